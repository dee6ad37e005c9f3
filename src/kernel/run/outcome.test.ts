import { describe, expect, it } from 'vitest'
import { decide, type AttemptResult } from './outcome.js'
import type { RetryPolicy } from '../job/retry.js'

const now = 1_767_571_200_000
const dueAt = now - 5000
const error = { code: 'HANDLER_FAILED', message: 'no' }
const retry: RetryPolicy = { attempts: 3, backoff: 'linear', delayMs: 1000, maxDelayMs: 60_000, jitter: 0 }

function decided(result: AttemptResult, { failures = 0, crashes = 0, attempts = 3 } = {}) {
  const job = { retry: { ...retry, attempts }, maxCrashes: 3 }
  return decide(result, { run: { id: 'r', dueAt, failures, crashes }, job, now })
}

const failed: AttemptResult = { kind: 'failed', error, advice: {} }
const timedOut: AttemptResult = { kind: 'timed-out', error }
const lost: AttemptResult = { kind: 'lost', error }

describe('what an attempt means for its run', () => {
  it.each([
    {
      what: 'done',
      result: { kind: 'done', result: { a: 1 } },
      outcome: { end: 'done', state: 'done', result: { a: 1 } },
    },
    {
      what: 'cancelled',
      result: { kind: 'cancelled', error },
      outcome: { end: 'cancelled', state: 'cancelled', error },
    },
    {
      what: 'released',
      result: { kind: 'released' },
      outcome: { end: 'released', state: 'pending', runAt: dueAt },
    },
    {
      what: 'failed',
      result: failed,
      outcome: { end: 'failed', state: 'pending', error, runAt: now + 1000 },
    },
    {
      what: 'timed out',
      result: timedOut,
      outcome: { end: 'timed-out', state: 'pending', error, runAt: now + 1000 },
    },
    { what: 'lost', result: lost, outcome: { end: 'lost', state: 'pending', error, runAt: dueAt } },
  ] as const)('an attempt that was $what', ({ result, outcome }) => {
    expect(decided(result)).toEqual(outcome)
  })
})

describe('the retry budget', () => {
  it.each([
    { failures: 0, state: 'pending', runAt: now + 1000 },
    { failures: 1, state: 'pending', runAt: now + 2000 },
    { failures: 2, state: 'failed', runAt: undefined },
    { failures: 7, state: 'failed', runAt: undefined },
  ])(
    'after $failures failures of three tries another one leaves the run $state',
    ({ failures, state, runAt }) => {
      for (const result of [failed, timedOut])
        expect(decided(result, { failures })).toMatchObject({ state, error })
      expect(decided(failed, { failures }).runAt).toBe(runAt)
    },
  )

  it('lost and released attempts do not use it', () => {
    expect(decided(failed, { crashes: 2 })).toMatchObject({ state: 'pending' })
    expect(decided({ kind: 'released' }, { failures: 2, crashes: 2 })).toMatchObject({ state: 'pending' })
  })

  it('a permanent failure is not retried, and the reason says so', () => {
    const outcome = decided({ kind: 'failed', error, advice: { permanent: true } })
    expect(outcome).toMatchObject({ end: 'failed', state: 'failed', error })
    expect(outcome.reason).toBe('not retried: the handler threw a permanent error')
  })

  it('one attempt means no retry after a failure', () => {
    expect(decided(failed, { attempts: 1 })).toEqual({ end: 'failed', state: 'failed', error })
  })
})

describe('G4: a run that crashes its workers', () => {
  it.each([
    { crashes: 0, state: 'pending' },
    { crashes: 1, state: 'pending' },
    { crashes: 2, state: 'failed' },
    { crashes: 3, state: 'failed' },
  ])('after $crashes lost attempts of three allowed the next one leaves it $state', ({ crashes, state }) => {
    expect(decided(lost, { crashes, failures: 2 })).toMatchObject({ end: 'lost', state })
  })

  it('is quarantined with its own code, not failed like others', () => {
    const outcome = decided(lost, { crashes: 2 })
    expect(outcome).toMatchObject({ reason: 'quarantined', error: { code: 'QUARANTINED', message: 'no' } })
  })
})
