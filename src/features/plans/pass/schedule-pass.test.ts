import { beforeEach, describe, expect, it } from 'vitest'
import { placeOf } from '../../../kernel/definition/faults.js'
import type { Json } from '../../../kernel/definition/json.js'
import { planRunId } from '../../../kernel/identity/occurrence.js'
import { readPlan, type Plan } from '../definition.js'
import { openMemoryStore } from '../../../store/memory/memory-store.js'
import type { Store } from '../../../store/port.js'
import { formatInstant } from '../../../time/instant.js'
import { schedulePass, type Pass, type PassRequest } from './schedule-pass.js'

const minute = 60_000
const hour = 60 * minute
const t0 = Date.UTC(2026, 0, 5, 2)

let store: Store

beforeEach(() => {
  store = openMemoryStore()
})

/** A plan with an entry at each of these times. */
function planAt(...instants: readonly number[]): Plan {
  const entries = instants.map((at) => ({ publish_at: formatInstant(at), pipeline_path: 'web.yml' }))
  const place = placeOf()
  const plan = readPlan({ schema_version: 'v1', entries }, place)
  expect(place.faults).toEqual([])
  return plan as Plan
}

/** A plan with one entry with these params. */
function planWith(params: Json, at = t0, more: readonly number[] = []): Plan {
  const entry = { publish_at: formatInstant(at), pipeline_path: 'web.yml', params }
  const others = more.map((one) => ({ publish_at: formatInstant(one), pipeline_path: 'web.yml' }))
  return readPlan({ schema_version: 'v1', entries: [entry, ...others] }, placeOf()) as Plan
}

function pass(plan: Plan, request: Partial<PassRequest> = {}): Promise<Pass> {
  const usual = { now: t0, windowMs: 10 * minute, lookBackMs: 24 * hour, isDry: false }
  return schedulePass(store, { plan, source: 'plan:plan.yaml', ...usual, ...request })
}

const enqueuedAt = ({ enqueued }: Pass): number[] => enqueued.map(({ dueAt }) => dueAt)
const codes = ({ skipped }: Pass): string[] => skipped.map(({ code }) => code)

describe('a pass over a plan', () => {
  it('Q4: enqueues what is due from now to the end of the window, both ends included', async () => {
    const plan = planAt(t0 - 1000, t0, t0 + 10 * minute, t0 + 10 * minute + 1000)
    const first = await pass(plan)
    expect(enqueuedAt(first)).toEqual([t0, t0 + 10 * minute])
    expect(first.skipped).toMatchObject([
      { code: 'entry_missed', message: 'due 2026-01-05T01:59:59Z, before 2026-01-05T02:00:00Z' },
      { code: 'entry_not_due', message: 'due 2026-01-05T02:10:01Z, after the window' },
    ])
    expect(await store.runs({ limit: 9 })).toMatchObject([
      { dueAt: t0 + 10 * minute, runAt: t0 + 10 * minute, state: 'pending', job: 'pipeline' },
      { dueAt: t0, labels: { run_id_base: '20260105_0900' } },
    ])
  })

  it('Q4: enqueues entries of missed passes, within the look-back', async () => {
    const plan = planAt(t0 + hour, t0 + 20 * hour, t0 + 30 * hour)
    await pass(plan)
    const late = await pass(plan, { now: t0 + 40 * hour })
    expect(enqueuedAt(late)).toEqual([t0 + 20 * hour, t0 + 30 * hour])
    expect(codes(late)).toEqual(['entry_missed'])
    expect(codes(await pass(plan, { now: t0 + 40 * hour }))).toEqual([
      'entry_missed',
      'already_enqueued',
      'already_enqueued',
    ])
  })

  it('Q4: does not enqueue an entry that was added after the pass that should have enqueued it', async () => {
    await pass(planAt(), { now: t0 })
    const late = await pass(planAt(t0 - minute, t0 + minute), { now: t0 + 5 * minute })
    expect(enqueuedAt(late)).toEqual([t0 + minute])
    expect(codes(late)).toEqual(['entry_missed'])
  })

  it('Q4: looks back in the first pass of a plan only on request', async () => {
    const plan = planAt(t0 - 2 * hour, t0 - hour, t0)
    const asked = { lookBackMs: 90 * minute, looksBackFirst: true }
    expect(enqueuedAt(await pass(plan, { ...asked, isDry: true }))).toEqual([t0 - hour, t0])
    expect(enqueuedAt(await pass(plan, asked))).toEqual([t0 - hour, t0])
  })

  it('Q4: recognises a plan under every spelling of its path, and after its file was replaced', async () => {
    const planFile = '/srv/site/plan.yaml'
    await pass(planAt(), { source: 'plan:link/plan.yaml', planFile })
    const late = planAt(t0 + 20 * minute)
    const other = { source: 'plan:plan.yaml', planFile, now: t0 + 30 * minute }
    expect(enqueuedAt(await pass(late, { ...other, isDry: true }))).toEqual([t0 + 20 * minute])
    // For example a link to the newest release.
    const replaced = { source: 'plan:link/plan.yaml', planFile: '/srv/release-2/plan.yaml' }
    expect(enqueuedAt(await pass(late, { ...other, ...replaced }))).toEqual([t0 + 20 * minute])
    const [cursor] = await store.triggers({ names: ['pass:plan:link/plan.yaml'] })
    expect(cursor).toMatchObject({
      cursorAt: t0 + 30 * minute,
      trigger: { payload: { file: replaced.planFile } },
    })
  })

  it('Q4: is separate for each plan', async () => {
    await pass(planAt(), { source: 'plan:other.yaml' })
    expect(codes(await pass(planAt(t0 + minute), { now: t0 + 5 * minute }))).toEqual(['entry_missed'])
  })

  it('Q6: enqueues an entry once, however many passes there are, also after its run was removed', async () => {
    const plan = planAt(t0)
    const all = await Promise.all([pass(plan), pass(plan), pass(plan)])
    expect(all.flatMap(enqueuedAt)).toEqual([t0])
    const [run] = await store.runs({ limit: 9 })
    await store.cancel({ run: run?.id ?? '', now: t0, reason: 'test' })
    await store.prune({ before: t0 + hour, limit: 9, now: t0 + hour })
    expect(await store.runs({ limit: 9 })).toEqual([])
    expect(codes(await pass(plan, { now: t0 + minute }))).toEqual(['already_enqueued'])
    expect(await store.runs({ limit: 9 })).toEqual([])
  })

  it('Q6: does not enqueue what another program enqueued, and remembers it', async () => {
    const plan = planAt(t0)
    const id = planRunId(plan.entries[0]?.jobId ?? '', t0)
    const job = 'pipeline'
    await store.enqueue({
      runs: [{ id, job, origin: 'enqueue', dueAt: t0, runAt: t0, priority: 0, slots: [] }],
      now: t0,
    })
    expect(codes(await pass(plan))).toEqual(['already_enqueued'])
    expect((await store.runs({ limit: 9 })).map((run) => run.origin)).toEqual(['enqueue'])
  })

  it('Q6: enqueues an entry that the engine has already defined', async () => {
    const plan = planAt(t0)
    await pass(plan, { source: 'plan:other.yaml' })
    expect(codes(await pass(plan))).toEqual(['already_enqueued'])
  })

  it('Q11: as a dry run finds the same and changes nothing', async () => {
    const plan = planAt(t0, t0 + hour)
    const dry = await pass(plan, { isDry: true })
    expect([enqueuedAt(dry), codes(dry)]).toEqual([[t0], ['entry_not_due']])
    expect(await store.triggers()).toEqual([])
    expect(await store.jobs()).toEqual([])
    expect(await store.runs({ limit: 9 })).toEqual([])
    expect(enqueuedAt(await pass(plan))).toEqual([t0])
  })

  it('moves its own cursor forward only', async () => {
    await pass(planAt(), { now: t0 + hour })
    await pass(planAt(), { now: t0 })
    const [cursor] = await store.triggers({ names: ['pass:plan:plan.yaml'] })
    expect(cursor).toMatchObject({ cursorAt: t0 + hour, trigger: { enabled: false }, nextAt: undefined })
  })
})

describe('an entry whose params differ from what was enqueued', () => {
  const refused = async (plan: Plan, request: Partial<PassRequest> = {}): Promise<void> => {
    const before = await store.runs({ limit: 9 })
    await expect(pass(plan, request)).rejects.toMatchObject({
      code: 'DEFINITION_CONFLICT',
      faults: [{ path: plan.entries[0]?.runId, message: 'it was enqueued with other params' }],
    })
    expect(await store.runs({ limit: 9 })).toEqual(before)
  }

  it('Q5: refuses the plan in a later pass, in a dry run and from another plan', async () => {
    await pass(planWith({ a: 1, b: { c: 2, d: 3 } }))
    expect(codes(await pass(planWith({ b: { d: 3, c: 2 }, a: 1 })))).toEqual(['already_enqueued'])
    const changed = planWith({ a: 2 }, t0, [t0 + minute])
    await refused(changed)
    await refused(changed, { isDry: true })
    await refused(changed, { source: 'plan:other.yaml' })
    await refused(planWith({}), { now: t0 + 48 * hour })
  })

  it('Q5: refuses it even if the run was cancelled, done or removed meanwhile', async () => {
    await pass(planWith({ a: 1 }))
    const [run] = await store.runs({ limit: 9 })
    await store.cancel({ run: run?.id ?? '', now: t0, reason: 'test' })
    await refused(planWith({ a: 2 }))
    await store.prune({ before: t0 + hour, limit: 9, now: t0 + hour })
    await refused(planWith({ a: 2 }), { now: t0 + minute })
  })

  it('Q5: refuses it if another program enqueued the run', async () => {
    const plan = planWith({ a: 1 })
    const id = planRunId(plan.entries[0]?.jobId ?? '', t0)
    const base = { job: 'pipeline', origin: 'enqueue', dueAt: t0, runAt: t0, priority: 0, slots: [] } as const
    const payload = { pipeline_path: 'web.yml', params: { a: 2 } }
    await store.enqueue({ runs: [{ id, payload, ...base }], now: t0 })
    await refused(plan)
    expect(codes(await pass(planWith({ a: 2 })))).toEqual(['already_enqueued'])
  })
})
