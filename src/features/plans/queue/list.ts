import { pipelinePayloadOf, queueErrorOf, type QueueError } from '../../../kernel/job/pipeline.js'
import type { Run, StoredError } from '../../../kernel/run/run.js'
import type { Store } from '../../../store/port.js'
import type { Instant } from '../../../time/instant.js'
import { systemClock } from '../../../time/clock.js'
import { queueFiles, type NoRun, type QueueAt } from './files.js'

/** A run of a queue with the names of queue files, or a file that is not a run. */
export interface QueueItem {
  /** The id of the run, even if the store has not imported it; empty if the file is not a run. */
  readonly id: string
  readonly state: Run['state'] | 'invalid'
  readonly dueAt?: Instant | undefined
  readonly runAt?: Instant | undefined
  readonly jobId: string
  readonly runId: string
  readonly pipelinePath: string
  readonly attempts: number
  readonly error?: QueueError | undefined
  /** Its path, if it is not a run. */
  readonly file?: string | undefined
}

/** Everything in a queue directory in the order of its files: the runs of the store, and files that it has not imported. */
export async function listQueue(store: Store | undefined, queue: QueueAt): Promise<readonly QueueItem[]> {
  const runs = store === undefined ? [] : await allRuns(store)
  const known = new Set(runs.map((run) => run.id))
  const files = queueFiles(queue, systemClock.now())
  const untaken = files.flatMap((file) => (file.kind === 'run' && !known.has(file.run.id) ? [file.run] : []))
  const items: readonly QueueItem[] = [...runs.map(itemOf), ...untaken]
  const noRuns = files.flatMap((file) => (file.kind === 'run' ? [] : [noRunItem(file)]))
  return [...items.toSorted(byFileName), ...noRuns]
}

/** The item of a run in the store. */
export function itemOf(run: Run): QueueItem {
  return {
    id: run.id,
    state: run.state,
    dueAt: run.dueAt,
    runAt: run.runAt,
    jobId: run.labels?.['job_id'] ?? run.id,
    runId: run.labels?.['run_id'] ?? run.id,
    pipelinePath: pipelinePayloadOf(run.payload)?.pipeline_path ?? '',
    attempts: run.attempt,
    error: run.error && summaryErrorOf(run.error),
  }
}

/** The error codes of a summary; any other failure is one of the pipeline. */
const summaryCodes: readonly string[] = ['job_invalid', 'timed_out', 'cancelled']

/** The error of a run with the codes of summaries. */
export function summaryErrorOf(error: StoredError): QueueError {
  const told = queueErrorOf(error)
  return summaryCodes.includes(told.code) ? told : { ...told, code: 'orchestrator_failed' }
}

const page = 1000

/** All runs of a queue, or all in one state. */
export async function allRuns(store: Store, state?: Run['state']): Promise<readonly Run[]> {
  const found: Run[] = []
  for (let before: string | undefined; ; ) {
    const runs = await store.runs({ limit: page, before, state })
    found.push(...runs)
    before = runs.at(-1)?.id
    if (runs.length < page) return found
  }
}

/** The item of a file that is not a run. */
export function noRunItem({ kind, path, fault, jobId }: NoRun): QueueItem {
  const [state, code] =
    kind === 'failed' ? (['failed', 'job_invalid'] as const) : (['invalid', 'invalid'] as const)
  const error = { code, message: fault }
  return { id: '', state, jobId, runId: '', pipelinePath: '', attempts: 0, error, file: path }
}

/** Orders runs as the names of their files do. */
export function byFileName(a: QueueItem, b: QueueItem): number {
  return (a.dueAt ?? 0) - (b.dueAt ?? 0) || (a.jobId < b.jobId ? -1 : 1)
}
