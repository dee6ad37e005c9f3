import { expect, it } from 'vitest'
import { StoreVersion } from './store-version.js'

/** A clock whose sleeps end when it is advanced. */
function fakeClock() {
  let nowMs = 0
  let sleeping: { readonly atMs: number; readonly wake: () => void }[] = []
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return {
    monotonicMs: () => nowMs,
    sleep: (ms: number) =>
      new Promise<void>((wake) => {
        sleeping.push({ atMs: nowMs + ms, wake })
      }),
    advance: async (ms: number) => {
      nowMs += ms
      for (const { wake } of sleeping.filter(({ atMs }) => atMs <= nowMs)) wake()
      sleeping = sleeping.filter(({ atMs }) => atMs > nowMs)
      await turn()
    },
  }
}

it('requests wait 30 ms after a change, and a second change does not prolong that', async () => {
  const clock = fakeClock()
  let stamp = 1
  const version = new StoreVersion({ stamp: () => Promise.resolve(stamp), clock })
  const answered: unknown[] = []
  const ask = async (): Promise<void> => {
    void version.lookFor(new Request('http://localhost/')).then((value) => answered.push(value))
    await clock.advance(0)
  }
  await ask()
  await clock.advance(10)
  await ask()
  expect(answered).toEqual([1, 1])
  stamp = 2
  await clock.advance(10)
  await ask()
  stamp = 3
  await clock.advance(20)
  await ask()
  expect(answered).toEqual([1, 1])
  await clock.advance(10)
  expect(answered).toEqual([1, 1, 2, 3])
  await clock.advance(10)
  await ask()
  expect(answered).toEqual([1, 1, 2, 3, 3])
})
