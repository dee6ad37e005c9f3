import { expect, it } from 'vitest'
import { jobDefaults } from '../../src/kernel/job/job.js'
import type { RateLimit } from '../../src/kernel/job/rate-limit.js'
import { defineTrigger } from '../../src/kernel/trigger/define-trigger.js'
import { openMemoryStore } from '../../src/store/memory/memory-store.js'
import { emptyTables } from '../../src/store/memory/tables.js'
import { simulate } from '../../src/testing/simulation.js'
import { endEffects, kinds } from '../fixtures/feature-parts.js'

const hourMs = 3_600_000

it('rate limits, auto-pause and dead letters leave nothing unexplained, under kills', async () => {
  const tables = emptyTables(endEffects)
  const rules = { retry: { ...jobDefaults.retry, attempts: 3 }, maxCrashes: 1_000_000 }
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
  const after = { trigger: 'pausing', fromAt, untilAt: report.endAt, limit: 10 }
  expect(await store.runInstants(after)).toEqual([])

  const runs = [...tables.runs.values()]
  const failed = runs.filter(({ job, phase }) => job === 'mail' && phase === 'failed')
  const letters = runs.filter(({ job }) => job === 'letters').map(({ labels }) => labels?.['failed_run'])
  expect(failed.length).toBeGreaterThan(10)
  expect(letters).toHaveLength(failed.length)
  expect(new Set(letters)).toEqual(new Set(failed.map(({ id }) => id)))

  const crowded = (jobs: readonly string[], { max, burst }: RateLimit): number[] => {
    const starts = runs
      .flatMap(({ job, attempts }) => (jobs.includes(job) ? attempts.map(({ claimedAt }) => claimedAt) : []))
      .toSorted((a, b) => a - b)
    return starts.filter((at, i) => (starts[i + max + burst - 1] ?? Infinity) < at + hourMs)
  }
  expect(crowded(['mail'], limit)).toEqual([])
  expect(crowded(['mail', 'letters'], ofQueue)).toEqual([])
})
