// A test of schedules and jobs without waiting: with a fake clock, and a store that forgets everything at the end.
// Run it with `node --test examples/testing/report.test.mjs`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rota } from 'rota'
import { defineTrigger, emptyTables, FakeClock, openMemoryStore, simulate } from 'rota/testing'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

test('the report runs in the morning, and is tried again a minute after it failed', async () => {
  const clock = new FakeClock(new Date('2026-01-05T08:59:00Z'))
  const app = rota({ store: 'memory:', clock })
  const seen = []
  const report = app.job(
    'report',
    (run) => {
      seen.push(`${run.partition}, attempt ${run.attempt}, at ${new Date(clock.now()).toISOString()}`)
      if (run.attempt === 1) throw new Error('the first attempt fails')
    },
    { retry: { attempts: 2, delay: '1m', jitter: 0 } },
  )
  app.schedule('morning', { job: report, cron: '0 9 * * *', partition: 'day' })
  await app.start()
  await clock.advance(5 * minuteMs)
  assert.deepEqual(seen, [
    '2026-01-05, attempt 1, at 2026-01-05T09:00:00.000Z',
    '2026-01-05, attempt 2, at 2026-01-05T09:01:00.000Z',
  ])
  const [coverage] = await app.coverage()
  assert.deepEqual([coverage.due, coverage.run, coverage.unexplainedCount], [1, 1, 0])
  await app.stop()
})

test('a week with crashes and clock steps loses nothing', async () => {
  const tables = emptyTables()
  const report = await simulate({
    seed: 7,
    startAt: Date.UTC(2026, 2, 23),
    durationMs: 7 * dayMs,
    triggers: [
      defineTrigger('morning', {
        job: 'work',
        cron: '30 2 * * *',
        timezone: 'Europe/Berlin',
        catchUp: 'all',
      }),
      defineTrigger('hourly', { job: 'work', every: '1h' }),
    ],
    open: async () => openMemoryStore(tables),
    processes: 2,
    crashEveryMs: 5 * hourMs,
    stepEveryMs: 50 * hourMs,
    leaseMs: hourMs,
    failure: 0.05,
  })
  assert.deepEqual(report.broken, [])
  assert.ok(report.crashes > 0)
})
