import { expect, it } from 'vitest'
import { jobDefaults } from '../../../kernel/job/job.js'
import { defineTrigger } from '../../../kernel/trigger/define-trigger.js'
import { openMemoryStore } from '../../../store/memory/memory-store.js'
import { emptyTables } from '../../../store/memory/tables.js'
import { simulate } from '../../../testing/simulation.js'
import { DAY_MS } from '../../../time/civil.js'
import { pingJob, type PingPayload } from '../job.js'
import { pingLoop } from '../loop.js'

const seed = Number(process.env['SEED'] ?? 20260106)

it(`the end of every run is pinged exactly once, whichever process is killed, and whenever (seed ${seed})`, async () => {
  const tables = emptyTables()
  const ping = 'https://example.org/check'
  const report = await simulate({
    seed,
    startAt: Date.UTC(2026, 0, 5),
    durationMs: DAY_MS / 4,
    triggers: [
      defineTrigger('pinged', { job: 'work', cron: '*/10 * * * *', overlap: 'allow', ping }),
      defineTrigger('quiet', { job: 'work', cron: '*/10 * * * *', overlap: 'allow' }),
    ],
    processes: 3,
    crashEveryMs: 10 * 60_000,
    stepEveryMs: Infinity,
    leaseMs: 30_000,
    failure: 0.4,
    jobs: [{ ...jobDefaults, name: pingJob }],
    loops: [pingLoop],
    open: () => Promise.resolve(openMemoryStore(tables)),
  })
  expect(report.broken).toEqual([])
  expect(report.crashes).toBeGreaterThan(10)
  const { store } = report
  const ended = (await store.runs({ trigger: 'pinged', limit: 1000 })).filter(
    ({ finishedAt = Infinity }) => finishedAt < report.endAt - 60_000,
  )
  const sent = (await store.runs({ job: pingJob, limit: 10_000 })).map(
    ({ payload }) => payload as unknown as PingPayload,
  )
  expect(ended.length).toBeGreaterThan(25)
  for (const { id, state } of ended) {
    const told = sent.filter(({ run, kind }) => run === id && kind !== 'start').map(({ kind }) => kind)
    expect({ id, told }).toEqual({ id, told: [state === 'done' ? 'success' : 'fail'] })
  }
  expect(new Set(sent.map(({ trigger }) => trigger))).toEqual(new Set(['pinged']))
}, 120_000)
