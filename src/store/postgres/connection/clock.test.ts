import { expect, it } from 'vitest'
import { systemClock, type Clock } from '../../../time/clock.js'
import { DatabaseClock } from './clock.js'

const hour = 3_600_000

/** A host with its own wall clock; the test moves its time. */
class Host implements Clock {
  elapsedMs = 0
  readonly #wall: number

  constructor(wall: number) {
    this.#wall = wall
  }

  now = (): number => this.#wall + this.elapsedMs
  monotonicMs = (): number => this.elapsedMs
  uptimeMs = (): number => this.elapsedMs
  sleep = async (ms: number): Promise<void> => void (this.elapsedMs += ms)
  sleepUntil = async (): Promise<void> => undefined
  timer = (ms: number, fire: () => void): (() => void) => systemClock.timer(ms, fire)
  defer = (act: () => void): void => systemClock.defer(act)
}

it('a wall clock that is wrong by an hour changes nothing', () => {
  const server = 1_800_000_000_000
  for (const wrongBy of [-hour, 0, hour]) {
    const host = new Host(server + wrongBy)
    const clock = new DatabaseClock(host)
    clock.observe({ serverMs: server, beforeMs: 0, afterMs: 2 })
    host.elapsedMs = 1000
    expect(Math.abs(clock.now() - (server + 1000))).toBeLessThanOrEqual(1)
  }
})

it('a quick answer narrows the estimate of a slow one, and a slow one does not widen it again', () => {
  const host = new Host(0)
  const clock = new DatabaseClock(host)
  clock.observe({ serverMs: 10_400, beforeMs: 0, afterMs: 800 })
  clock.observe({ serverMs: 10_901, beforeMs: 900, afterMs: 902 })
  clock.observe({ serverMs: 11_700, beforeMs: 1000, afterMs: 1900 })
  host.elapsedMs = 2000
  expect(clock.now()).toBe(12_000)
})

it('a better estimate never moves time back, and a server clock that was set is followed', () => {
  const host = new Host(0)
  const clock = new DatabaseClock(host)
  clock.observe({ serverMs: 10_000, beforeMs: 0, afterMs: 100 })
  host.elapsedMs = 100
  const before = clock.now()
  clock.observe({ serverMs: 10_050, beforeMs: 100, afterMs: 101 })
  expect(clock.now()).toBeGreaterThanOrEqual(before)
  clock.observe({ serverMs: 10_000 + 2 * hour, beforeMs: 101, afterMs: 102 })
  expect(clock.now()).toBeGreaterThan(before + hour)
})

it('it sleeps until the time of the server', async () => {
  const host = new Host(5 * hour)
  const clock = new DatabaseClock(host)
  clock.observe({ serverMs: 1000, beforeMs: 0, afterMs: 0 })
  await clock.sleepUntil(91_000)
  expect(host.elapsedMs).toBe(90_000)
})
