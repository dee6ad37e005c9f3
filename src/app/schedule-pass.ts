/**
 * One pass over a plan: what falls due until the end of the window, and what fell due since the pass before, becomes
 * runs. An entry is a trigger that is due once; its cursor remembers it for ever, also when its run is long gone. How
 * far the plan has been passed is the cursor of a trigger that is never due.
 *
 * A crash in between loses nothing: the cursor of the pass moves last, and the next pass finds what is recorded already.
 */
import { define } from '../engine/sync.js'
import { fingerprintOf } from '../model/identity.js'
import { newTriggerRun, planRunId, planTriggerName } from '../model/occurrence.js'
import { pipelineJob } from '../model/pipeline.js'
import type { Tick } from '../model/tick.js'
import type { StoredTrigger, Trigger } from '../model/trigger.js'
import type { Plan, PlanEntry } from '../plan/plan.js'
import type { Store } from '../store/store.js'
import { formatInstant, type Instant } from '../time/instant.js'
import { definePipelineJob, planTrigger } from './plans.js'

/** What a pass is asked to do. */
export interface PassRequest {
  readonly plan: Plan
  /** `plan:` and the path: whose triggers these are. */
  readonly source: string
  /** To the second, as plans are. */
  readonly now: Instant
  readonly windowMs: number
  readonly lookBackMs: number
  /** Finds everything and writes nothing. */
  readonly isDry: boolean
}

/** What a pass came to. */
export interface Pass {
  readonly enqueued: readonly PlanEntry[]
  readonly skipped: readonly SkippedEntry[]
}

/** An entry that did not become a run in this pass, and why. */
export interface SkippedEntry {
  readonly entry: PlanEntry
  readonly code: SkipCode
  readonly message: string
}

/** Why an entry did not become a run. */
export type SkipCode = 'entry_not_due' | 'entry_missed' | 'already_enqueued' | 'scheduler_disabled'

/** Makes one pass; `store` is absent where a dry run found none. */
export async function schedulePass(store: Store | undefined, request: PassRequest): Promise<Pass> {
  const { plan, now, isDry } = request
  const known = await knownTriggers(store, request)
  const sorted = plan.entries.map((entry) => ({ entry, skip: skipOf(entry, known, request) }))
  const due = sorted.filter(({ skip }) => skip === undefined).map(({ entry }) => entry)
  // By instant and id, as their files are named: that is the order in which they are taken.
  const ordered = due.toSorted((a, b) => a.dueAt - b.dueAt || (a.jobId < b.jobId ? -1 : 1))
  // What another program put into the queue is recorded, so that it stays known, but was not enqueued here.
  const foreign = await foreignEntries(store, ordered)
  const recorded = store === undefined || isDry ? ordered : await record(store, ordered, request)
  if (store !== undefined && !isDry) await notePass(store, request.source, now)
  const enqueued = recorded.filter((entry) => !foreign.has(entry))
  const isMine = new Set(enqueued)
  return {
    enqueued,
    skipped: sorted.flatMap(({ entry, skip }): SkippedEntry[] => {
      if (skip !== undefined) return [{ entry, ...skip }]
      // Another scheduler was faster.
      return isMine.has(entry) ? [] : [{ entry, ...alreadyEnqueued }]
    }),
  }
}

/** A pass that does nothing because it is switched off. */
export function disabledPass(plan: Plan, message: string): Pass {
  const skipped = plan.entries.map((entry) => ({ entry, code: 'scheduler_disabled' as const, message }))
  return { enqueued: [], skipped }
}

interface Known {
  readonly byName: ReadonlyMap<string, StoredTrigger>
  /** What was due before it is not enqueued any more. */
  readonly fromAt: Instant
}

async function knownTriggers(store: Store | undefined, request: PassRequest): Promise<Known> {
  const { plan, source, now, lookBackMs } = request
  const pass = passName(source)
  const names = [pass, ...plan.entries.map(({ jobId }) => planTriggerName(jobId))]
  const found = store === undefined ? [] : await store.triggers({ names })
  const byName = new Map(found.map((one) => [one.trigger.name, one]))
  const lastAt = Math.min(byName.get(pass)?.cursorAt ?? now, now)
  return { byName, fromAt: Math.max(lastAt, now - lookBackMs) }
}

const alreadyEnqueued = { code: 'already_enqueued', message: 'it was recorded before' } as const

function skipOf(
  { jobId, dueAt }: PlanEntry,
  { byName, fromAt }: Known,
  { now, windowMs }: PassRequest,
): Omit<SkippedEntry, 'entry'> | undefined {
  const due = `due ${formatInstant(dueAt)}`
  const trigger = byName.get(planTriggerName(jobId))
  if (trigger !== undefined && trigger.cursorAt >= dueAt) return alreadyEnqueued
  if (dueAt > now + windowMs) return { code: 'entry_not_due', message: `${due}, after the window` }
  if (dueAt >= fromAt) return undefined
  return { code: 'entry_missed', message: `${due}, before ${formatInstant(fromAt)}` }
}

async function foreignEntries(
  store: Store | undefined,
  entries: readonly PlanEntry[],
): Promise<ReadonlySet<PlanEntry>> {
  const found = new Set<PlanEntry>()
  for (const entry of store === undefined ? [] : entries) {
    if ((await store?.run(planRunId(entry.jobId, entry.dueAt))) !== undefined) found.add(entry)
  }
  return found
}

/** Records entries; answers those that nobody else recorded first. */
async function record(
  store: Store,
  entries: readonly PlanEntry[],
  { source, now }: PassRequest,
): Promise<readonly PlanEntry[]> {
  if (entries.length === 0) return []
  await definePipelineJob(store, now)
  const names = entries.map(({ jobId }) => planTriggerName(jobId))
  const active = (await store.triggers({ names })).filter((one) => one.active)
  const taken = new Set(active.map((one) => one.trigger.name))
  const missing = entries.filter(({ jobId }) => !taken.has(planTriggerName(jobId)))
  await define(store, { source, triggers: missing.map((entry) => planTrigger(entry, pipelineJob)), now })
  const ticks = await ticksOf(store, entries, now)
  const answers = await store.tick(ticks.map(({ tick }) => tick))
  return ticks.filter((_, index) => answers[index] === 'ticked').map(({ entry }) => entry)
}

async function ticksOf(
  store: Store,
  entries: readonly PlanEntry[],
  now: Instant,
): Promise<readonly { entry: PlanEntry; tick: Tick }[]> {
  const names = entries.map(({ jobId }) => planTriggerName(jobId))
  const due = new Map((await store.dueByName({ names, now })).map((one) => [one.trigger.name, one]))
  const ticks: { entry: PlanEntry; tick: Tick }[] = []
  for (const entry of entries) {
    const { dueAt } = entry
    const one = due.get(planTriggerName(entry.jobId))
    if (one === undefined || one.cursorAt >= dueAt) continue
    // A run that another program's file made already has the same id, and stays as it is.
    const tick = tickTo(one, { at: now, cursorAt: Math.max(now, dueAt) })
    ticks.push({ entry, tick: { ...tick, runs: [newTriggerRun(one, dueAt)] } })
  }
  return ticks
}

function tickTo(one: StoredTrigger, to: { at: Instant; cursorAt: Instant }): Tick {
  const { trigger, revision } = one
  const nothing = { nextAt: undefined, chainRun: undefined, runs: [], ranges: [], supersede: undefined }
  return { trigger: trigger.name, revision, ...to, ...nothing }
}

/** Moves the cursor of the pass; whoever was there at the same time has moved it as far. */
async function notePass(store: Store, source: string, now: Instant): Promise<void> {
  const trigger = passTrigger(source)
  const [known] = await store.triggers({ names: [trigger.name] })
  if (known === undefined) {
    await definePipelineJob(store, now)
    await define(store, { source: 'plans', triggers: [trigger], now })
  } else if (known.cursorAt < now) await store.tick([tickTo(known, { at: now, cursorAt: now })])
}

/** The last second of the year 9999: no schedule says anything later. */
const neverAt = 253_402_300_799_000

function passTrigger(source: string): Trigger {
  return {
    name: passName(source),
    // Never performed, but a trigger has to name a job.
    job: pipelineJob,
    schedule: { kind: 'once', at: neverAt },
    payload: undefined,
    partition: undefined,
    catchUp: { mode: 'skip', maxAgeMs: undefined, maxRuns: 1, graceMs: 0 },
    overlap: 'skip',
    jitterMs: 0,
    spreadMs: 0,
    priority: undefined,
    enabled: false,
  }
}

/** A path may have what a name may not. */
function passName(source: string): string {
  return /^[\w.:@/-]{1,100}$/.test(source) ? `pass:${source}` : `pass:${fingerprintOf(source)}`
}
