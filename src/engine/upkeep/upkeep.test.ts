import { expect, it } from 'vitest'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { Events } from '../events.js'
import { Loop } from '../loop.js'
import { Upkeep } from './upkeep.js'

const t0 = Date.UTC(2026, 0, 5)
const everyMs = 5000

/** A loop of upkeep on a store with one worker, whose looks are counted. */
async function kept({ isWoken }: { isWoken: boolean }) {
  const clock = new FakeClock(t0)
  const memory = openMemoryStore()
  const looks: number[] = []
  const store: typeof memory = {
    ...memory,
    expire: (request) => {
      looks.push((clock.now() - t0) / 1000)
      return memory.expire(request)
    },
  }
  const events = new Events()
  const upkeep = new Upkeep({
    store,
    events,
    now: () => clock.now(),
    steadyMs: () => Infinity,
    everyMs,
    countsHours: false,
    retentionMs: () => Infinity,
    onRuns: () => undefined,
    woken: isWoken ? { clock } : undefined,
  })
  const worker = { host: 'here', pid: 1, version: '0' }
  await store.register({ id: 'w', ...worker, now: t0, leaseMs: 30_000 })
  const step = () => upkeep.step()
  const loop = new Loop({ name: 'upkeep', seed: '', clock, events, pollMs: 60_000, step })
  loop.start()
  await clock.advance('0s')
  return { clock, store, looks, loop, worker }
}

it('looks as often as it was told to, where nobody tells it of commits', async () => {
  const { clock, looks, loop } = await kept({ isWoken: false })
  await clock.advance('20s')
  expect(looks).toEqual([0, 5, 10, 15, 20])
  await loop.stop()
})

it('rests until the first lease is over, where it is told of commits', async () => {
  const { clock, looks, loop } = await kept({ isWoken: true })
  await clock.advance('60s')
  expect(looks.slice(0, 2)).toEqual([0, 5])
  expect(looks[2]).toBeCloseTo(30, 1)
  await loop.stop()
})

it('learns of a shorter lease from the commit that begins it, and looks no more often for many commits', async () => {
  const { clock, store, looks, loop, worker } = await kept({ isWoken: true })
  await clock.advance('2s')
  await clock.advance('6s')
  expect(looks).toEqual([0, 5])
  await store.register({ id: 'short', ...worker, now: clock.now(), leaseMs: 10_000 })
  for (let i = 0; i < 16; i++) {
    loop.wake()
    await clock.advance('250ms')
  }
  expect(looks).toEqual([0, 5, 10])
  await clock.advance('11s')
  expect(looks).toEqual([0, 5, 10, 15, 20])
  expect(await store.workers()).toMatchObject([{ id: 'w' }])
  await loop.stop()
})
