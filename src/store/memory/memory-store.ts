import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../port.js'
import { auditedAccess } from './audit/audited-access.js'
import { emptyTables, type Tables } from './tables.js'
import { tableVerbs } from './table-verbs.js'

/**
 * Opens a store that lives as long as its tables: the model that other stores are compared with. Several stores on
 * the same tables behave like several processes on one store. Each call is synchronous, which makes it a
 * transaction.
 */
export function openMemoryStore(tables: Tables = emptyTables()): Store {
  const watched = new Set<() => void>()
  let isClosed = false
  const read = <T>(ask: (tables: Tables) => T): T => {
    if (isClosed) throw new RotaError('STORE_CLOSED', 'The memory store was used after it was closed')
    return ask(tables)
  }
  const write = <T>(apply: (tables: Tables) => T): T => {
    const answer = read(apply)
    notifyWatchers(tables)
    return answer
  }
  const access = { read, change: read, write }
  const store: Store = {
    ...tableVerbs(access),
    url: 'memory:',

    audited: (record) => ({ ...store, ...tableVerbs(auditedAccess(access, record)) }),

    async health() {
      return read(({ id, epoch, highestAt }) => {
        return { id, schemaVersion: 1, engine: 'memory', sizeBytes: undefined, epoch, highestAt, faults: [] }
      })
    },

    watch(hint: () => void): () => void {
      tables.watchers.add(hint)
      watched.add(hint)
      return () => {
        tables.watchers.delete(hint)
        watched.delete(hint)
      }
    },

    async close() {
      isClosed = true
      for (const hint of watched) tables.watchers.delete(hint)
    },
  }
  return store
}

/** Notifies every watcher once for all writes of the same microtask. */
function notifyWatchers(tables: Tables): void {
  if (tables.isHinting || tables.watchers.size === 0) return
  tables.isHinting = true
  queueMicrotask(() => {
    tables.isHinting = false
    for (const hint of tables.watchers) hint()
  })
}
