import { expect, it } from 'vitest'
import { StoreVersion } from '../store-version.js'
import { KnownEntries, type Entries } from './known-entries.js'

function stage() {
  const at = { version: 1, ms: 0, reads: 0, fails: false }
  const clock = { monotonicMs: () => at.ms, sleep: async (ms: number) => void (at.ms += ms) }
  const known = new KnownEntries(new StoreVersion({ stamp: async () => at.version, clock }))
  const store: Entries = {
    stateEntries: async () => {
      at.reads += 1
      if (at.fails) throw new Error('away')
      return [{ kind: 'token', name: 'a', item: '', revision: at.version, at: 0, value: {} }]
    },
  }
  const ask = async (name = 'a', request = new Request('http://127.0.0.1/')): Promise<number | undefined> => {
    const [entry] = await known.of(request, store).stateEntries({ kind: 'token', names: [name], limit: 1 })
    return entry?.revision
  }
  return { at, ask }
}

it('an entry is read again only after a commit, and then immediately', async () => {
  const { at, ask } = stage()
  await ask()
  await ask()
  expect([await ask(), await ask()]).toEqual([1, 1])
  expect(at.reads).toBe(2)
  at.version = 2
  expect([await ask(), await ask(), at.reads]).toEqual([2, 2, 3])
})

it('concurrent requests share one read, and other entries are read separately', async () => {
  const { at, ask } = stage()
  await ask()
  await ask()
  at.version = 2
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([2, 2, 2])
  expect(at.reads).toBe(3)
  await ask('b')
  expect(at.reads).toBe(4)
})

it('a read that failed is tried again', async () => {
  const { at, ask } = stage()
  await ask()
  at.fails = true
  at.version = 2
  await expect(ask()).rejects.toThrow('away')
  at.fails = false
  expect(await ask()).toBe(2)
})
