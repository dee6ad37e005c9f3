import { expect, it } from 'vitest'
import { jobDefaults } from '../../src/kernel/job/job.js'
import { defineTrigger } from '../../src/kernel/trigger/define-trigger.js'
import { openMemoryStore } from '../../src/store/memory/memory-store.js'
import { emptyTables } from '../../src/store/memory/tables.js'
import { simulate } from '../../src/testing/simulation.js'
import { endEffects, kinds } from '../fixtures/feature-parts.js'

const hourMs = 3_600_000

it('a job keeps runs by final state, number and age as defined; nothing is unexplained, under kills', async () => {
  const tables = emptyTables(endEffects)
  const retention = { done: { ageMs: 6 * hourMs }, failed: { count: 5 } }
  const report = await simulate({
    seed: 71,
    startAt: Date.UTC(2026, 0, 5),
    durationMs: 48 * hourMs,
    triggers: [
      defineTrigger('short', { job: 'mail', cron: '*/5 * * * *', catchUp: 'all', overlap: 'queue-all' }),
      defineTrigger('long', { job: 'keeps', cron: '*/30 * * * *', catchUp: 'all', overlap: 'queue-all' }),
    ],
    jobs: [
      { ...jobDefaults, name: 'mail', retention },
      { ...jobDefaults, name: 'keeps' },
    ],
    kinds,
    open: async () => openMemoryStore(tables),
    processes: 2,
    crashEveryMs: 5 * hourMs,
    stepEveryMs: Infinity,
    leaseMs: hourMs,
    failure: 0.3,
  })
  expect(report.broken).toEqual([])
  expect(report.crashes).toBeGreaterThan(3)
  const runs = [...tables.runs.values()]
  const ended = (job: string, phase: string) => runs.filter((run) => run.job === job && run.phase === phase)
  // Pruning is hourly, and a run stays until its hour is counted.
  const oldest = report.endAt - 6 * hourMs - 3 * hourMs
  expect(ended('mail', 'done').filter(({ finishedAt = 0 }) => finishedAt < oldest)).toEqual([])
  expect(ended('mail', 'done').length).toBeGreaterThan(20)
  const uncounted = ended('mail', 'failed').filter(
    ({ finishedAt = 0 }) => finishedAt > report.endAt - 3 * hourMs,
  )
  expect(ended('mail', 'failed').length).toBeLessThanOrEqual(5 + uncounted.length)
  expect(ended('mail', 'failed').length).toBeGreaterThanOrEqual(5)
  expect(ended('keeps', 'done').length + ended('keeps', 'failed').length).toBeGreaterThan(80)
})
