import { expect, it } from 'vitest'
import { conformance } from '../conformance/conformance.js'
import { lawEffects } from '../conformance/effects.js'
import { aRun, t0 } from '../conformance/stage.js'
import { openMemoryStore } from './memory-store.js'
import { emptyTables } from './tables.js'

conformance('memory', async () => {
  const tables = emptyTables(lawEffects)
  let store = openMemoryStore(tables)
  return {
    store,
    async reopen() {
      await store.close()
      store = openMemoryStore(tables)
      return store
    },
    async dispose() {
      await store.close()
    },
  }
})

it('a watcher is notified of writes by another store on the same tables, once per microtask', async () => {
  const tables = emptyTables()
  const [one, other] = [openMemoryStore(tables), openMemoryStore(tables)]
  let heard = 0
  const stop = one.watch(() => heard++)
  await Promise.all([
    other.enqueue({ runs: [aRun('a')], now: t0 }),
    other.enqueue({ runs: [aRun('b')], now: t0 }),
  ])
  expect(heard).toBe(1)
  stop()
  await other.enqueue({ runs: [aRun('c')], now: t0 })
  expect(heard).toBe(1)
})

it('closing one store leaves others on the same tables open', async () => {
  const tables = emptyTables()
  const [one, other] = [openMemoryStore(tables), openMemoryStore(tables)]
  await one.close()
  await expect(one.jobs()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  expect(await other.jobs()).toEqual([])
})
