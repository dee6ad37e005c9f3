import { expect, it } from 'vitest'
import type { Claim } from '../../store/port.js'
import { FakeClock } from '../../testing/fake-clock.js'
import type { Ended } from './attempts.js'
import { Prefetch } from './prefetch.js'

const t0 = Date.UTC(2026, 0, 1)

function claim(isLimited: boolean): Claim {
  return {
    run: 'run',
    job: 'work',
    trigger: undefined,
    attempt: 1,
    failures: 0,
    crashes: 0,
    dueAt: t0,
    partition: undefined,
    payload: undefined,
    claimedAt: t0,
    isLimited: isLimited || undefined,
  }
}

/** After a tenth of a second in which a thousand runs ended, and a turn of 10 ms. */
async function busy(): Promise<Prefetch> {
  const clock = new FakeClock(t0)
  const prefetch = new Prefetch(clock)
  await clock.advance(100)
  const outcome = { end: 'done', state: 'done' } as const
  const finished = { run: 'run', attempt: 1, outcome, startedAt: t0, endedAt: t0 }
  prefetch.measure(Array.from({ length: 1000 }, (): Ended => ({ claim: claim(false), finished })))
  await clock.advance(10)
  prefetch.turned()
  return prefetch
}

it('a worker that gets only limited runs requests no more than it may claim of them', async () => {
  const prefetch = await busy()
  expect(prefetch.beside(0, Infinity)).toEqual({ prefetch: 1000, prefetchLimited: 100 })
  prefetch.claimed([claim(true), claim(true)])
  expect(prefetch.beside(0, Infinity)).toEqual({ prefetch: 100, prefetchLimited: 100 })
})

it('a worker that gets a plain run among limited ones requests as many plain ones as it ends', async () => {
  const prefetch = await busy()
  prefetch.claimed([claim(true)])
  prefetch.claimed([claim(true), claim(false)])
  expect(prefetch.beside(0, Infinity)).toEqual({ prefetch: 1000, prefetchLimited: 100 })
})

it('a turn without claims does not change what a worker requests', async () => {
  const prefetch = await busy()
  prefetch.claimed([claim(true)])
  prefetch.claimed([])
  expect(prefetch.beside(0, Infinity)).toEqual({ prefetch: 100, prefetchLimited: 100 })
})
