import { expect, it } from 'vitest'
import { jobDefaults } from '../../src/kernel/job/job.js'
import { PermanentError, RetryAfter, Snooze } from '../../src/kernel/job/thrown.js'
import { defineTrigger } from '../../src/kernel/trigger/define-trigger.js'
import { openMemoryStore } from '../../src/store/memory/memory-store.js'
import { emptyTables } from '../../src/store/memory/tables.js'
import { simulate } from '../../src/testing/simulation.js'
import { crowded } from '../fixtures/crowded.js'
import { endEffects, kinds } from '../fixtures/feature-parts.js'

const hourMs = 3_600_000

it('rate limits, auto-pause, retries of all kinds and dead letters leave nothing unexplained, under kills', async () => {
  const tables = emptyTables(endEffects)
  const retry = { ...jobDefaults.retry, attempts: 3, not: ['RangeError'] }
  const rules = { retry, maxCrashes: 1_000_000 }
  const limit = { max: 40, perMs: hourMs, burst: 2 }
  const ofQueue = { max: 50, perMs: hourMs, burst: 3 }
  const report = await simulate({
    seed: 15,
    startAt: Date.UTC(2026, 0, 5),
    durationMs: 36 * hourMs,
    triggers: [
      defineTrigger('limited', { job: 'mail', cron: '*/5 * * * *', overlap: 'queue-all', catchUp: 'all' }),
      defineTrigger('beside', { job: 'mail', every: '11m' }),
      defineTrigger('pausing', { job: 'work', cron: '*/10 * * * *', pauseAfter: 2 }),
      defineTrigger('going-on', { job: 'work', every: '20m' }),
    ],
    jobs: [
      { ...jobDefaults, name: 'mail', queue: 'post', ...rules, limit, deadLetter: 'letters' },
      { ...jobDefaults, name: 'letters', queue: 'post' },
    ],
    queues: [{ name: 'post', concurrency: undefined, limit: ofQueue }],
    kinds,
    open: async () => openMemoryStore(tables),
    processes: 2,
    crashEveryMs: 2 * hourMs,
    stepEveryMs: Infinity,
    leaseMs: hourMs,
    failure: 0.55,
    errors: [
      () => new Error('simulated failure'),
      () => new RangeError('not retried'),
      () => new RetryAfter('7m'),
      () => new Snooze('9m', 'not yet'),
      () => new PermanentError('for good'),
    ],
  })
  expect(report.broken).toEqual([])
  expect(report.crashes).toBeGreaterThan(5)
  const { store } = report

  const [pause] = await store.holds({ target: 'trigger:pausing' })
  expect(pause).toMatchObject({
    actor: 'rota',
    note: expect.stringMatching(/^2 runs in a row failed/) as string,
  })
  const fromAt = (pause?.fromAt ?? 0) + 1
  const later = { trigger: 'pausing', fromAt, untilAt: report.endAt, limit: 10 }
  expect(await store.runInstants(later)).toEqual([])

  const runs = [...tables.runs.values()]
  const failed = runs.filter(({ job, phase }) => job === 'mail' && phase === 'failed')
  const letters = runs.filter(({ job }) => job === 'letters').map(({ labels }) => labels?.['failed_run'])
  expect(failed.length).toBeGreaterThan(10)
  expect(letters).toHaveLength(failed.length)
  expect(new Set(letters)).toEqual(new Set(failed.map(({ id }) => id)))

  const mails = runs.filter(({ job }) => job === 'mail')
  const pairs = mails.flatMap(({ attempts }) =>
    attempts.slice(1).map((next, i) => [attempts[i], next] as const),
  )
  const after = (name: string) => pairs.filter(([before]) => before?.error?.message === name)
  for (const [before, next] of after('try again later'))
    expect(next.claimedAt).toBeGreaterThanOrEqual((before?.endedAt ?? Infinity) + 7 * 60_000)
  expect(after('try again later').length).toBeGreaterThan(5)
  expect([...after('not retried'), ...after('for good')]).toEqual([])
  const snoozed = pairs.filter(([before]) => before?.end === 'snoozed')
  for (const [before, next] of snoozed)
    expect(next.claimedAt).toBeGreaterThanOrEqual((before?.endedAt ?? Infinity) + 9 * 60_000)
  expect(snoozed.length).toBeGreaterThan(5)

  const startsOf = (jobs: readonly string[]): number[] =>
    runs.flatMap(({ job, attempts }) =>
      jobs.includes(job) ? attempts.map(({ claimedAt }) => claimedAt) : [],
    )
  expect(crowded(startsOf(['mail']), limit)).toEqual([])
  expect(crowded(startsOf(['mail', 'letters']), ofQueue)).toEqual([])
})
