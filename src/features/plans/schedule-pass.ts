/**
 * One pass over a plan: what falls due until the end of the window, and what fell due since the pass before, becomes
 * runs. An entry is a trigger that is due once; its cursor remembers it for ever, also when its run is long gone. How
 * far the plan has been passed is the cursor of a trigger that is never due.
 *
 * A crash in between loses nothing: the cursor of the pass moves last, and the next pass finds what is recorded already.
 */
import { planRunId, planTriggerName } from '../../kernel/identity/occurrence.js'
import type { Run } from '../../kernel/run/run.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Plan, PlanEntry } from './definition.js'
import { fileNameOf } from '../../formats/queue-file.js'
import type { Store } from '../../store/port.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { lastPassAt, notePass } from './pass-cursor.js'
import { filedPayload, queueFileNames } from './queue/files.js'
import { hasSameParams, isRecorded, refuseOtherParams, wasEnqueued } from './same-params.js'

/** What a pass is asked to do. */
export interface PassRequest {
  readonly plan: Plan
  /** `plan:` and the path: whose triggers these are. */
  readonly source: string
  /** To the second, as plans are. */
  readonly now: Instant
  readonly windowMs: number
  readonly lookBackMs: number
  /** Whether a plan that has never been passed is looked back over too: somebody asked for it. */
  readonly looksBackFirst?: boolean | undefined
  /** The plan's file without links, by which it is known under every spelling of its path. */
  readonly planFile?: string | undefined
  /** Finds everything and writes nothing. */
  readonly isDry: boolean
  /** Where the files of the queue lie, if it is a directory. */
  readonly queuePath?: string | undefined
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
  const { plan, isDry } = request
  const known = await knownTriggers(store, request)
  const sorted = plan.entries.map((entry) => ({ entry, skip: skipOf(entry, known, request) }))
  const due = sorted.filter(({ skip }) => skip === undefined).map(({ entry }) => entry)
  // What the store took in from another program is recorded, so that it stays known, but was not enqueued here.
  const foreign = await foreignEntries(store, due)
  const filed = filedEntries(due, foreign, request)
  await refuseChanged(store, request, { known, foreign, filed })
  const free = due.filter((entry) => !filed.has(entry))
  // By instant and id, as their files are named: that is the order in which they are taken.
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

/** What another program has a file for that the store did not take in: it is held, done, or cannot be read. */
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

/** Refuses the plan where an entry has other params than were enqueued under its id, by whomever. */
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
    const name = planTriggerName(entry.jobId)
    const stored = found.known.byName.get(name)
    const payload = found.foreign.get(entry)?.payload
    if (isRecorded(stored, entry)) {
      const isSame = hasSameParams(entry.params, stored?.trigger.payload)
      if (!isSame && (await wasEnqueued(store, entry, name))) changed.push(entry)
    } else if (payload !== undefined && !hasSameParams(entry.params, payload)) changed.push(entry)
  }
  if (queuePath !== undefined && found.filed.size > 0) {
    for (const entry of found.filed) {
      const filed = filedPayload(queuePath, fileNameOf(entry.dueAt, entry.jobId))
      if (filed !== undefined && !hasSameParams(entry.params, filed)) changed.push(entry)
    }
  }
  refuseOtherParams(source.slice('plan:'.length), changed)
}

/** Most passes find nothing to record: what defines triggers is loaded only with the first entry. */
async function record(
  store: Store,
  entries: readonly PlanEntry[],
  request: PassRequest,
): Promise<readonly PlanEntry[]> {
  if (entries.length === 0) return []
  const { recordEntries } = await import('./record-entries.js')
  return await recordEntries(store, entries, request)
}
