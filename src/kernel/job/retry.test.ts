import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { noRetry, retryDelayMs, type RetryPolicy } from './retry.js'

const exact: RetryPolicy = { attempts: 9, backoff: 'constant', delayMs: 1000, maxDelayMs: 60_000, jitter: 0 }

it.each([
  { backoff: 'constant', waits: [1000, 1000, 1000, 1000] },
  { backoff: 'linear', waits: [1000, 2000, 3000, 4000] },
  { backoff: 'exponential', waits: [1000, 2000, 4000, 8000] },
] as const)('a $backoff backoff waits $waits ms', ({ backoff, waits }) => {
  expect(waits.map((_, i) => retryDelayMs({ ...exact, backoff }, i + 1, 'run'))).toEqual(waits)
})

it('no delay is longer than the maximum, however many attempts failed', () => {
  for (const backoff of ['constant', 'linear', 'exponential'] as const) {
    for (const failures of [7, 100, 5000]) {
      expect(retryDelayMs({ ...exact, backoff, maxDelayMs: 900 }, failures, 'run')).toBe(900)
    }
  }
})

it('jitter takes at most its part of the delay, the same for the same run and attempt', () => {
  const policies = fc.record({
    attempts: fc.constant(9),
    backoff: fc.constantFrom('constant' as const, 'linear' as const, 'exponential' as const),
    delayMs: fc.integer({ min: 0, max: 100_000 }),
    maxDelayMs: fc.integer({ min: 0, max: 3_600_000 }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  fc.assert(
    fc.property(policies, fc.integer({ min: 1, max: 50 }), fc.string(), (policy, failures, seed) => {
      const whole = retryDelayMs({ ...policy, jitter: 0 }, failures, seed)
      const wait = retryDelayMs(policy, failures, seed)
      expect(wait).toBeLessThanOrEqual(whole)
      expect(wait).toBeGreaterThanOrEqual(Math.floor(whole * (1 - policy.jitter)))
      expect(retryDelayMs(policy, failures, seed)).toBe(wait)
    }),
  )
})

it('jitter spreads runs that failed together', () => {
  const waits = Array.from({ length: 50 }, (_, i) => retryDelayMs({ ...exact, jitter: 0.5 }, 1, `run ${i}`))
  expect(new Set(waits).size).toBeGreaterThan(40)
})

it('the default is one attempt', () => {
  expect(noRetry.attempts).toBe(1)
})
