import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../port.js'
import { auditedAccess } from './audit/audited-access.js'
import { emptyTables, type Tables } from './tables.js'
import { tableVerbs } from './table-verbs.js'

/**
 * Opens a store that lives as long as its tables: the model that other stores are compared with. Several stores on
 * the same tables behave like several processes on one store. Each call is synchronous, which makes it a
 * transaction. A store that does not hint itself notifies its watchers only of writes by others, as databases do.
 */
export function openMemoryStore(
  tables: Tables = emptyTables(),
  { hintsItself = true }: { readonly hintsItself?: boolean } = {},
): Store {
  const watched = new Set<() => void>()
  let isClosed = false
  const read = <T>(ask: (tables: Tables) => T): T => {
    if (isClosed) throw new RotaError('STORE_CLOSED', 'The memory store was used after it was closed')
    return ask(tables)
  }
  const write = <T>(apply: (tables: Tables) => T): T => {
    const answer = read(apply)
    notifyWatchers(tables, hintsItself ? nobody : watched)
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

const nobody: ReadonlySet<() => void> = new Set()

/** Notifies every watcher but some, once for all writes of the same microtask. */
function notifyWatchers(tables: Tables, except: ReadonlySet<() => void>): void {
  if (tables.watchers.size === except.size) return
  if (tables.hinting.size === 0)
    queueMicrotask(() => {
      const hinting = [...tables.hinting]
      tables.hinting.clear()
      for (const hint of hinting) if (tables.watchers.has(hint)) hint()
    })
  for (const hint of tables.watchers) if (!except.has(hint)) tables.hinting.add(hint)
}
