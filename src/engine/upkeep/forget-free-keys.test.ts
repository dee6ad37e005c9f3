import { expect, it } from 'vitest'
import { rateEntry, storedRate } from '../../kernel/job/rate-limit.js'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { emptyTables } from '../../store/memory/tables.js'
import { forgetFreeKeys } from './forget-free-keys.js'

const now = Date.UTC(2026, 0, 5)

it('keys of rate limits are removed once they are free, however many there are; queues and jobs stay', async () => {
  const store = openMemoryStore(emptyTables())
  const at = (freeAt: number) => storedRate({ freeAt, turns: [] })
  const changes = [
    ...Array.from({ length: 1200 }, (_, i) => ({
      ...rateEntry('key', 'mail', `customer-${i}`),
      value: at(i % 3 === 0 ? now + 1 : now),
    })),
    { ...rateEntry('job', 'mail'), value: at(now - 1) },
    { ...rateEntry('queue', 'post'), value: at(now - 1) },
  ]
  await store.changeState({ changes, now })
  await forgetFreeKeys(store, now)
  const left = await store.stateEntries({ kind: 'rate', limit: 5000 })
  expect(left.filter(({ item }) => item !== '')).toHaveLength(400)
  expect(left.filter(({ item }) => item === '').map(({ name }) => name)).toEqual(['job:mail', 'queue:post'])
})

it('a key that starts a run meanwhile is kept', async () => {
  const store = openMemoryStore(emptyTables())
  const [busy, free] = ['busy', 'free'].map((key) => rateEntry('key', 'mail', key)) as [never, never]
  const write = (entry: object, freeAt: number) =>
    store.changeState({ changes: [{ ...entry, value: storedRate({ freeAt, turns: [] }) } as never], now })
  await write(busy, now)
  await write(free, now)
  let isFirst = true
  const raced = {
    ...store,
    stateEntries: store.stateEntries.bind(store),
    changeState: async (request: Parameters<typeof store.changeState>[0]) => {
      if (isFirst) await write(busy, now + 1000)
      isFirst = false
      return await store.changeState(request)
    },
  }
  await forgetFreeKeys(raced, now)
  expect((await store.stateEntries({ kind: 'rate', limit: 9 })).map(({ item }) => item)).toEqual(['busy'])
})
