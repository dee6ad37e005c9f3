import { RotaError } from '../../kernel/definition/errors.js'
import { newTriggerRun, planRunId, planTriggerName } from '../../kernel/identity/occurrence.js'
import { didYouMean } from '../../kernel/definition/read-value.js'
import type { NewRun } from '../../kernel/run/run.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Plan, PlanEntry } from './definition.js'
import type { Store } from '../../store/port.js'
import { fileNameOf } from '../../formats/queue-file.js'
import { namedText } from '../../text/error-text.js'
import type { Instant } from '../../time/instant.js'
import { queueFileNames } from './queue/files.js'
import { hasSameParams, isRecorded, refuseOtherParams, wasEnqueued } from './same-params.js'

/** Which entry of a plan to enqueue. */
export interface EntryRequest {
  readonly plan: Plan
  /** The path as the user wrote it, for messages. */
  readonly planPath: string
  /** `plan:` and the path: the source of the trigger if it has to be defined. */
  readonly source: string
  /** Its `job_id` or `run_id`. */
  readonly id: string
  readonly now: Instant
  /** Only says what would be done. */
  readonly isDry: boolean
  /** The path of the queue directory, if the queue is one. */
  readonly queuePath?: string | undefined
}

/** The outcome of the request. */
export interface EnqueuedEntry {
  readonly entry: PlanEntry
  readonly outcome: 'enqueued' | 'already_enqueued'
}

/** Enqueues one entry of a plan, even a missed one, but never twice. `store` is undefined if a dry run found none. */
export async function enqueueEntry(store: Store | undefined, request: EntryRequest): Promise<EnqueuedEntry> {
  const entry = entryOf(request)
  if (store === undefined) return { entry, outcome: 'enqueued' }
  const name = planTriggerName(entry.jobId)
  const [stored] = await store.triggers({ names: [name] })
  const run = await store.run(planRunId(entry.jobId, entry.dueAt))
  const isEntry = isRecorded(stored, entry)
  const wasRun = run !== undefined || (isEntry && (await wasEnqueued(store, entry, name)))
  if (wasRun && !hasSameParams(entry.params, run?.payload ?? stored?.trigger.payload))
    refuseOtherParams(request.planPath, [entry])
  const isDone = wasRun || hasFile(entry, request) || (await isNoted(store, entry))
  if (isDone) return { entry, outcome: 'already_enqueued' }
  if (request.isDry) return { entry, outcome: 'enqueued' }
  if (isEntry && stored !== undefined)
    return { entry, outcome: await enqueueMissed(store, stored, { entry, ...request }) }
  const { recordEntries } = await import('./pass/record-entries.js')
  const recorded = await recordEntries(store, [entry], request)
  return { entry, outcome: recorded.length === 1 ? 'enqueued' : 'already_enqueued' }
}

/** The entry with an id; throws if there is none. */
export function entryOf({ plan, planPath, id }: Pick<EntryRequest, 'plan' | 'planPath' | 'id'>): PlanEntry {
  const entry = plan.entries.find(({ jobId, runId }) => jobId === id || runId === id)
  if (entry !== undefined) return entry
  const hint = didYouMean(
    id,
    plan.entries.flatMap(({ jobId, runId }) => [jobId, runId]),
  )
  const message = `${planPath} has no entry with the id ${namedText(id)}${hint}; \`rota plan check ${planPath}\` shows them`
  throw new RotaError('RUN_UNKNOWN', message)
}

/** Whether the queue directory has a file for the entry, from whichever program. */
function hasFile({ dueAt, jobId }: PlanEntry, { queuePath }: EntryRequest): boolean {
  return queuePath !== undefined && queueFileNames(queuePath).has(fileNameOf(dueAt, jobId))
}

/**
 * Enqueues an entry that an engine has recorded as missed. The record stays; the run gets the id that it would have had.
 * A state entry prevents that it is enqueued again after its run was removed.
 */
async function enqueueMissed(
  store: Store,
  stored: StoredTrigger,
  { entry, now }: { readonly entry: PlanEntry; readonly now: Instant },
): Promise<EnqueuedEntry['outcome']> {
  const { trigger } = stored
  const job = (await store.jobs()).find((one) => one.job.name === trigger.job)?.job
  if (job === undefined) throw new RotaError('JOB_UNKNOWN', `no job is named ${trigger.job}`)
  const due = { ...stored, jobDefinition: job, holds: [], unfinished: [] }
  const payload = { pipeline_path: entry.pipelinePath, params: entry.params ?? {} }
  const run: NewRun = { ...newTriggerRun(due, entry.dueAt), origin: 'manual', runAt: now, payload }
  const [answer] = await store.enqueue({ runs: [run], now })
  await store.changeState({ changes: [{ ...stateEntryOf(entry), value: { at: now } }], now })
  return answer?.created === true ? 'enqueued' : 'already_enqueued'
}

async function isNoted(store: Store, entry: PlanEntry): Promise<boolean> {
  const { kind, name } = stateEntryOf(entry)
  return (await store.stateEntries({ kind, names: [name], limit: 1 })).length > 0
}

function stateEntryOf({ jobId }: PlanEntry) {
  return { kind: 'plan', name: planTriggerName(jobId), item: 'enqueued' } as const
}
