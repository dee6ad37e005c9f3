import { expect, it } from 'vitest'
import { breachOf } from '../../../kernel/sla/sla.js'
import { defineTrigger } from '../../../kernel/trigger/define-trigger.js'
import { openMemoryStore } from '../../../store/memory/memory-store.js'
import { emptyTables } from '../../../store/memory/tables.js'
import { simulate } from '../../../testing/simulation.js'
import { HOUR_MS } from '../../../time/civil.js'
import { newNotices, watchKey } from '../../../kernel/alert/notice.js'
import { slaLoop } from '../loop.js'

const seed = Number(process.env['SEED'] ?? 20260105)

it(`every broken promise is recorded exactly once, and no other, whichever process is killed when (seed ${seed})`, async () => {
  const tables = emptyTables()
  const sla = { startedWithin: '30s', finishedWithin: '2m' }
  const triggers = ['a', 'b'].map((name) =>
    defineTrigger(name, { job: 'work', cron: '*/10 * * * *', overlap: 'allow', catchUp: 'all', sla }),
  )
  const report = await simulate({
    seed,
    startAt: Date.UTC(2026, 0, 5),
    durationMs: 6 * HOUR_MS,
    triggers,
    processes: 2,
    crashEveryMs: 15 * 60_000,
    stepEveryMs: Infinity,
    leaseMs: 30_000,
    failure: 0.3,
    loops: [slaLoop],
    prepare: async (store, now) => {
      const changes = [{ ...watchKey, value: { 'code:simulation': ['sla'] } }]
      await store.changeState({ changes, now })
    },
    open: () => Promise.resolve(openMemoryStore(tables)),
  })
  expect(report.broken).toEqual([])
  expect(report.crashes).toBeGreaterThan(5)
  const { store, endAt } = report
  const found = (await store.stateEntries({ kind: 'breach', limit: 10_000 })).map(breachOf)
  const broken: string[] = []
  for (const { id, dueAt, finishedAt } of await store.runs({ limit: 10_000 })) {
    const [first] = await store.attempts(id)
    const startedAt = first?.startedAt ?? first?.claimedAt
    if (dueAt + 30_000 < endAt - HOUR_MS && (startedAt ?? Infinity) > dueAt + 30_000)
      broken.push(`${id} started-within`)
    if (dueAt + 120_000 < endAt - HOUR_MS && (finishedAt ?? Infinity) > dueAt + 120_000)
      broken.push(`${id} finished-within`)
  }
  const judged = found.filter(({ deadlineAt }) => deadlineAt < endAt - HOUR_MS)
  expect(judged.map(({ run, rule }) => `${run} ${rule}`).toSorted()).toEqual(broken.toSorted())
  expect(broken.length).toBeGreaterThan(5)
  // Nobody sends alerts here, so every notice is still there: one for each breach.
  const notices = await store.stateEntries({ kind: 'alert', names: [newNotices], limit: 10_000 })
  expect(notices).toHaveLength(found.length)
  const left = await store.stateEntries({ kind: 'deadline', limit: 10 })
  expect(left.every(({ name }) => Number(name) > endAt - HOUR_MS)).toBe(true)
}, 120_000)

it.each([
  [
    { startedWithin: '5m', finishedWithin: '1m' },
    /sla\.finishedWithin: "1m" contradicts `startedWithin` \("5m"\)/,
  ],
  [{}, /sla: it promises nothing/],
  [{ startedWithin: 'soon' }, /sla\.startedWithin/],
  [{ finishedBy: '1h' }, /sla\.finishedBy: unknown option/],
] as readonly (readonly [object, RegExp])[])(
  'an SLA that cannot be kept or says nothing is refused: %j',
  (sla, message) => {
    expect(() => defineTrigger('t', { job: 'work', every: '1h', sla })).toThrow(message)
  },
)
