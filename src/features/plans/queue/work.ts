import { ClockGuard } from '../../../engine/scheduler/clock-guard.js'
import { Events } from '../../../engine/events.js'
import type { ExecutableJob, Handler } from '../../../engine/worker/perform.js'
import { performOneRun, type OneRunOptions, type PerformedRun } from '../../../engine/worker/one-run.js'
import { reclaimLost } from '../../../engine/upkeep/reclaim-lost.js'
import type { Store } from '../../../store/port.js'
import { systemClock } from '../../../time/clock.js'
import {
  onePassJobs,
  type ExecutableInput,
  type Outside,
  type Steps,
} from '../../../handlers/executable-jobs.js'
import { newWorkerId, workerIdentity } from '../../../handlers/worker-identity.js'
import { definePipelineJob } from '../../../engine/sync/pipeline-job.js'
import { malformedFiles } from './next-run.js'
import { queueFiles, type NoRun, type QueueAt } from './files.js'
import { itemOf } from './list.js'
import { foreignFiles } from './runs.js'

/** What a worker did: it performed a run, or moved files that are not runs. */
export type Worked =
  | { readonly kind: 'run'; readonly worked: PerformedRun }
  | { readonly kind: 'moved'; readonly files: readonly NoRun[] }

/** What performing one run of a queue needs. */
export interface WorkOptions
  extends Pick<ExecutableInput, 'extensions'>,
    Pick<Outside, 'environment'>,
    Pick<OneRunOptions, 'aheadMs' | 'leaseMs' | 'signal' | 'tracer'> {
  readonly queue: QueueAt
  /** The functions that pipelines use. */
  readonly steps: Steps
  readonly onLine: (text: string) => void
  /** Called with the `run_id` before a run begins. */
  readonly onRun: (runId: string) => void
  /** Called with errors that change nothing. */
  readonly onTrouble: (text: string) => void
  /** The time, and whether leases can be judged. */
  readonly guard: ClockGuard
}

/** Performs the next due run of a queue. If there are files that are not runs, it only moves these to `failed`. */
export async function workQueue(store: Store, options: WorkOptions): Promise<Worked | undefined> {
  const { queue, environment, steps, extensions, guard } = options
  const clock = systemClock
  await definePipelineJob(store, guard.now())
  const outside = { clock, environment, directory: queue.directory }
  const release = new AbortController()
  const pass = { now: guard.now(), release: () => release.abort() }
  const found = await onePassJobs({ store, outside, steps, extensions }, pass)
  const executableJobs = new Map([...found].map(([name, one]) => [name, named(store, one, options.onRun)]))
  const worker = { ...workerIdentity(), id: newWorkerId() }
  const files = await moveMalformed(store, options, `${worker.host}:${worker.pid}`)
  if (files.length > 0) return { kind: 'moved', files }
  const events = new Events()
  events.on('trouble', ({ where, error }) => options.onTrouble(`${where}: ${String(error)}`))
  events.on('run:log', ({ text }) => options.onLine(text))
  await reclaimLost(store, guard)
  const worked = await performOneRun({
    ...options,
    store,
    clock,
    now: () => guard.now(),
    worker,
    executableJobs,
    signal: AbortSignal.any([options.signal, release.signal]),
    events,
  })
  return worked === undefined ? undefined : { kind: 'run', worked }
}

/** Calls `onRun` before a run begins. */
function named(store: Store, { job, handler }: ExecutableJob, onRun: (runId: string) => void): ExecutableJob {
  const tellFirst: Handler = async (run) => {
    const begun = await store.run(run.id)
    if (begun !== undefined) onRun(itemOf(begun).runId)
    return await handler(run)
  }
  return { job, handler: tellFirst }
}

/** Lets the store move files that are not runs; returns those that this process moved. */
async function moveMalformed(
  store: Store,
  { queue, guard }: { readonly queue: QueueAt; readonly guard: ClockGuard },
  self: string,
): Promise<readonly NoRun[]> {
  const found = malformedFiles(queue, systemClock.now())
  if (found.length === 0) return []
  await reclaimLost(store, guard)
  const ids = new Set(found.map(({ jobId }) => jobId))
  return queueFiles(queue, systemClock.now(), ['failed']).flatMap((file) =>
    file.kind === 'failed' && file.movedBy === self && ids.has(file.jobId) ? [file] : [],
  )
}

/** Reclaims the runs in `running` of dead workers and other programs; returns how many. */
export async function reclaimQueue(store: Store, queue: QueueAt): Promise<number> {
  const guard = await ClockGuard.open(store, systemClock, { acceptClock: true, history: 'kept' })
  const held = await foreignFiles(store, queue, ['running'])
  const lost = await reclaimLost(store, guard)
  return lost + held - (await foreignFiles(store, queue, ['running']))
}
