/**
 * One pass over a plan. Entries that are due between the previous pass and the end of the window become runs. An entry
 * is a trigger that is due once; its cursor remembers it even after its run was removed. A trigger that is never due
 * keeps the time of the last pass as its cursor.
 *
 * A crash loses nothing: the cursor of the pass moves last, and the next pass skips what is recorded.
 */
import { planRunId, planTriggerName } from '../../../kernel/identity/occurrence.js'
import type { Run } from '../../../kernel/run/run.js'
import type { StoredTrigger } from '../../../kernel/trigger/trigger.js'
import type { Plan, PlanEntry } from '../definition.js'
import { fileNameOf } from '../../../formats/queue-file.js'
import type { Store } from '../../../store/port.js'
import { formatInstant, type Instant } from '../../../time/instant.js'
import { lastPassAt, notePass } from './pass-cursor.js'
import { filedPayload, queueFileNames } from '../queue/files.js'
import { hasSameParams, isRecorded, refuseOtherParams, wasChanged } from '../same-params.js'

/** The parameters of a pass. */
export interface PassRequest {
  readonly plan: Plan
  /** `plan:` and the path: the source of the triggers. */
  readonly source: string
  /** In whole seconds, like plans. */
  readonly now: Instant
  readonly windowMs: number
  readonly lookBackMs: number
  /** Whether the first pass over a plan looks back too. */
  readonly looksBackFirst?: boolean | undefined
  /** The file of the plan with links resolved, which identifies it under any spelling of its path. */
  readonly planFile?: string | undefined
  /** Only says what would be done. */
  readonly isDry: boolean
  /** The path of the queue directory, if the queue is one. */
  readonly queuePath?: string | undefined
}

/** The result of a pass. */
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

/** Makes one pass; `store` is undefined if a dry run found none. */
export async function schedulePass(store: Store | undefined, request: PassRequest): Promise<Pass> {
  const { plan, isDry } = request
  const known = await knownTriggers(store, request)
  const sorted = plan.entries.map((entry) => ({ entry, skip: skipOf(entry, known, request) }))
  const due = sorted.filter(({ skip }) => skip === undefined).map(({ entry }) => entry)
  // Runs that the store imported from another program are recorded but were not enqueued here.
  const foreign = await foreignEntries(store, due)
  const filed = filedEntries(due, foreign, request)
  await refuseChanged(store, request, { known, foreign, filed })
  const free = due.filter((entry) => !filed.has(entry))
  // By instant and id, like the names of their files: workers claim them in this order.
  const ordered = free.toSorted((a, b) => a.dueAt - b.dueAt || (a.jobId < b.jobId ? -1 : 1))
  const recorded = store === undefined || isDry ? ordered : await record(store, ordered, request)
  if (store !== undefined && !isDry) await notePass(store, request)
  const enqueued = recorded.filter((entry) => !foreign.has(entry))
  const isMine = new Set(enqueued)
  return {
    enqueued,
    skipped: sorted.flatMap(({ entry, skip }): SkippedEntry[] => {
      if (skip !== undefined) return [{ entry, ...skip }]
      // Another scheduler or another program was faster.
      return isMine.has(entry) ? [] : [{ entry, ...alreadyEnqueued }]
    }),
  }
}

/** The result of a pass that is switched off. */
export function disabledPass(plan: Plan, message: string): Pass {
  const skipped = plan.entries.map((entry) => ({ entry, code: 'scheduler_disabled' as const, message }))
  return { enqueued: [], skipped }
}

interface Known {
  readonly byName: ReadonlyMap<string, StoredTrigger>
  /** Entries that were due earlier are missed. */
  readonly fromAt: Instant
}

async function knownTriggers(store: Store | undefined, request: PassRequest): Promise<Known> {
  const { plan, now, lookBackMs } = request
  const names = plan.entries.map(({ jobId }) => planTriggerName(jobId))
  const found = store === undefined ? [] : await store.triggers({ names })
  const byName = new Map(found.map((one) => [one.trigger.name, one]))
  const passedAt = store === undefined ? undefined : await lastPassAt(store, request)
  const firstAt = request.looksBackFirst === true ? now - lookBackMs : now
  return { byName, fromAt: Math.max(Math.min(passedAt ?? firstAt, now), now - lookBackMs) }
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
): Promise<ReadonlyMap<PlanEntry, Run>> {
  const found = new Map<PlanEntry, Run>()
  for (const entry of store === undefined ? [] : entries) {
    const run = await store?.run(planRunId(entry.jobId, entry.dueAt))
    if (run !== undefined) found.set(entry, run)
  }
  return found
}

/** Entries with a file of another program that the store did not import, because it is held, done or unreadable. */
function filedEntries(
  entries: readonly PlanEntry[],
  known: ReadonlyMap<PlanEntry, Run>,
  { queuePath }: PassRequest,
): ReadonlySet<PlanEntry> {
  if (queuePath === undefined || entries.length === known.size) return new Set()
  const names = queueFileNames(queuePath)
  return new Set(
    entries.filter((entry) => !known.has(entry) && names.has(fileNameOf(entry.dueAt, entry.jobId))),
  )
}

/** Refuses the plan if the run of an entry was enqueued with other params, by any program. */
async function refuseChanged(
  store: Store | undefined,
  { plan, queuePath, source }: PassRequest,
  found: {
    readonly known: Known
    readonly foreign: ReadonlyMap<PlanEntry, Run>
    readonly filed: ReadonlySet<PlanEntry>
  },
): Promise<void> {
  if (store === undefined) return
  const changed: PlanEntry[] = []
  for (const entry of plan.entries) {
    const stored = found.known.byName.get(planTriggerName(entry.jobId))
    const payload = isRecorded(stored, entry) ? undefined : found.foreign.get(entry)?.payload
    const isOther = payload !== undefined && !hasSameParams(entry.params, payload)
    if (isOther || (await wasChanged(store, entry, stored))) changed.push(entry)
  }
  for (const entry of found.filed) {
    const filed = filedPayload(queuePath ?? '', fileNameOf(entry.dueAt, entry.jobId))
    if (filed !== undefined && !hasSameParams(entry.params, filed)) changed.push(entry)
  }
  refuseOtherParams(source.slice('plan:'.length), changed)
}

/** Most passes record nothing, so that the code that defines triggers is loaded with the first entry. */
async function record(
  store: Store,
  entries: readonly PlanEntry[],
  request: PassRequest,
): Promise<readonly PlanEntry[]> {
  if (entries.length === 0) return []
  const { recordEntries } = await import('./record-entries.js')
  return await recordEntries(store, entries, request)
}
