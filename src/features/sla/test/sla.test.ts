import { expect, it } from 'vitest'
import { breachOf, type Breach } from '../../../kernel/sla/deadline.js'
import type { Sla } from '../../../kernel/sla/sla.js'
import { jobDefaults, type Job } from '../../../kernel/job/job.js'
import { newNotices, watchKey } from '../../../kernel/alert/notice.js'
import type { RunId } from '../../../kernel/identity/identity.js'
import { defineTrigger } from '../../../kernel/trigger/define-trigger.js'
import type { Store } from '../../../store/port.js'
import { openMemoryStore } from '../../../store/memory/memory-store.js'
import { emptyTables } from '../../../store/memory/tables.js'
import { simulate, type Simulation } from '../../../testing/simulation.js'
import { HOUR_MS, MINUTE_MS } from '../../../time/civil.js'
import { slaLoop } from '../loop.js'

const seed = Number(process.env['SEED'] ?? 20260105)
const startAt = Date.UTC(2026, 0, 5)

const world = (changes: Pick<Simulation, 'triggers'> & Partial<Simulation>): Simulation => {
  const tables = emptyTables()
  return {
    seed,
    startAt,
    durationMs: 6 * HOUR_MS,
    processes: 2,
    crashEveryMs: 15 * MINUTE_MS,
    stepEveryMs: Infinity,
    leaseMs: 30_000,
    failure: 0.3,
    loops: [slaLoop],
    prepare: async (store, now) => {
      const watched = [{ ...watchKey, value: { 'code:simulation': ['sla'] } }]
      await store.changeState({ changes: watched, now })
    },
    open: () => Promise.resolve(openMemoryStore(tables)),
    ...changes,
  }
}

const breachesOf = async (store: Store): Promise<readonly Breach[]> =>
  (await store.stateEntries({ kind: 'breach', limit: 10_000 })).map(breachOf)

/** No alerts are sent here, so every notice is still stored: one for each breach. */
async function expectOneNoticeEach(store: Store, found: readonly Breach[]): Promise<void> {
  const notices = await store.stateEntries({ kind: 'alert', names: [newNotices], limit: 10_000 })
  expect(notices).toHaveLength(found.length)
}

it(`every broken promise of a trigger and of a job, and no other, is recorded exactly once, whichever process is killed, and whenever (seed ${seed})`, async () => {
  const sla: Sla = { startedWithinMs: 30_000, finishedWithinMs: 120_000 }
  const job: Job = {
    ...jobDefaults,
    name: 'promising',
    retry: { ...jobDefaults.retry, attempts: 3 },
    maxCrashes: 1_000_000,
    sla: { startedWithinMs: 60_000, finishedBy: '00:00', timezone: 'UTC' },
  }
  const common = { cron: '*/10 * * * *', overlap: 'allow', catchUp: 'all' } as const
  const written = { startedWithin: '30s', finishedWithin: '2m' }
  const triggers = [
    ...['a', 'b'].map((name) => defineTrigger(name, { job: 'work', ...common, sla: written })),
    defineTrigger('c', { job: 'promising', ...common }),
  ]
  const report = await simulate(world({ triggers, jobs: [job] }))
  expect(report.broken).toEqual([])
  expect(report.crashes).toBeGreaterThan(5)
  const { store, endAt } = report
  const found = await breachesOf(store)
  const broken: string[] = []
  for (const run of await store.runs({ limit: 10_000 })) {
    const [first] = await store.attempts(run.id)
    const startedAt = first?.startedAt ?? first?.claimedAt
    const promises: readonly (readonly [string, number, number | undefined])[] =
      run.job === 'promising'
        ? [['started-within', run.dueAt + 60_000, startedAt]]
        : [
            ['started-within', run.dueAt + (sla.startedWithinMs ?? 0), startedAt],
            ['finished-within', run.dueAt + (sla.finishedWithinMs ?? 0), run.finishedAt],
          ]
    for (const [rule, deadlineAt, keptAt] of promises)
      if (deadlineAt < endAt - HOUR_MS && (keptAt ?? Infinity) > deadlineAt) broken.push(`${run.id} ${rule}`)
  }
  const judged = found.filter(
    ({ deadlineAt, rule }) => deadlineAt < endAt - HOUR_MS && rule !== 'finished-by',
  )
  const told = ({ run, rule }: Pick<Breach, 'run' | 'rule'>): string => `${run as RunId} ${rule}`
  expect(judged.map(told).toSorted()).toEqual(broken.toSorted())
  expect(broken.length).toBeGreaterThan(5)
  expect(new Set(found.map(({ of }) => of))).toEqual(new Set(['trigger', 'job']))
  await expectOneNoticeEach(store, found)
  const left = await store.stateEntries({ kind: 'deadline', limit: 10 })
  expect(left.every(({ name }) => Number(name) > endAt - HOUR_MS)).toBe(true)
}, 120_000)

it(`a last success that is too old is recorded exactly once for each gap, whichever process is killed, and whenever (seed ${seed})`, async () => {
  const withinMs = 20 * MINUTE_MS
  const triggers = [
    defineTrigger('often', { job: 'work', cron: '*/10 * * * *', sla: { notOlderThan: withinMs } }),
    defineTrigger('chain', { job: 'work', every: '10m', after: 'finish', sla: { notOlderThan: withinMs } }),
  ]
  const { store, endAt, crashes, broken } = await simulate(world({ triggers, failure: 0.75 }))
  expect(broken).toEqual([])
  expect(crashes).toBeGreaterThan(5)
  const found = await breachesOf(store)
  const expected: string[] = []
  for (const { name } of triggers) {
    const runs = await store.runs({ trigger: name, limit: 10_000 })
    const ends = runs.flatMap(({ state, finishedAt }) => (state === 'done' ? [finishedAt as number] : []))
    const definedAt = (await store.triggers({ names: [name] }))[0]?.definedAt as number
    const marks = [definedAt, ...ends.toSorted((a, b) => a - b), endAt]
    for (const [i, at] of marks.entries()) {
      const next = marks[i + 1]
      if (next !== undefined && next > at + withinMs) expected.push(`${name} ${at}`)
    }
  }
  expect(found.map(({ name, dueAt }) => `${name} ${dueAt}`).toSorted()).toEqual(expected.toSorted())
  expect(found.length).toBeGreaterThan(3)
  await expectOneNoticeEach(store, found)
}, 120_000)
