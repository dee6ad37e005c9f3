import { hostname } from 'node:os'
import { randomBytes } from 'node:crypto'
import { ClockGuard } from '../../../engine/scheduler/clock-guard.js'
import { Events } from '../../../engine/events.js'
import type { ErrorTracer } from '../../../engine/worker/error-tracer.js'
import type { Handler } from '../../../engine/worker/perform.js'
import { performOneRun, type PerformedRun } from '../../../engine/worker/one-run.js'
import { reclaimLost } from '../../../engine/upkeep/reclaim-lost.js'
import type { Store } from '../../../store/port.js'
import { systemClock } from '../../../time/clock.js'
import { failing, unclaimedCommands } from '../../command-jobs/unclaimed.js'
import { performablesOf, type Steps } from '../../../handlers/executable-jobs.js'
import { definePipelineJob } from '../triggers.js'
import { malformedFiles } from './next-run.js'
import { queueFiles, type NoRun, type QueueAt } from './files.js'
import { itemOf } from './list.js'
import { foreignFiles } from './runs.js'
import { Registry } from '../../../engine/sync/registry.js'
import { offerAfterDefaultMs } from '../../../app/rota-options.js'
import { packageVersion } from '../../../formats/version.js'

/** What a worker did: it performed a run, or moved files that are no runs out of the way. */
export type Worked =
  | { readonly kind: 'run'; readonly worked: PerformedRun }
  | { readonly kind: 'moved'; readonly files: readonly NoRun[] }

/** Performs the next due run of a queue; files that are no runs are moved to `failed` first, and are then all it does. */
export async function workQueue(
  store: Store,
  options: {
    readonly queue: QueueAt
    readonly directory: string
    readonly environment: Readonly<Record<string, string | undefined>>
    readonly aheadMs: number
    /** How long this worker may be silent before its run is taken back. */
    readonly leaseMs: number
    /** The functions that pipelines use. */
    readonly steps: Steps
    readonly signal: AbortSignal
    readonly onLine: (text: string) => void
    readonly tracer: ErrorTracer
    /** Hears the `run_id` of the run that is performed, before it begins. */
    readonly onRun: (runId: string) => void
    /** Hears of what went wrong and changes nothing. */
    readonly onTrouble: (text: string) => void
    /** Says what counts as now, and whether leases can be judged. */
    readonly guard: ClockGuard
  },
): Promise<Worked | undefined> {
  const { directory, environment, aheadMs, leaseMs, steps, signal, onLine, tracer, guard } = options
  const clock = systemClock
  await definePipelineJob(store, guard.now())
  const outside = { clock, environment, directory }
  const executableJobs = new Map(await performablesOf({ registry: new Registry(), store, outside, steps }))
  const release = new AbortController()
  const { over } = await unclaimedCommands(store, { now: guard.now(), offerAfterMs: offerAfterDefaultMs })
  for (const one of over) executableJobs.set(one.job.name, failing(one, release))
  for (const [name, { job, handler }] of executableJobs) {
    const named: Handler = async (run) => {
      const begun = await store.run(run.id)
      if (begun !== undefined) options.onRun(itemOf(begun).runId)
      return await handler(run)
    }
    executableJobs.set(name, { job, handler: named })
  }
  const host = hostname()
  const files = await moveMalformed(store, options, `${host}:${process.pid}`)
  if (files.length > 0) return { kind: 'moved', files }
  const id = `${host}:${process.pid}:${randomBytes(4).toString('hex')}`
  const worker = { id, host, pid: process.pid, version: packageVersion }
  const either = AbortSignal.any([signal, release.signal])
  const events = new Events()
  events.on('trouble', ({ where, error }) => options.onTrouble(`${where}: ${String(error)}`))
  events.on('run:log', ({ text }) => onLine(text))
  await reclaimLost(store, guard)
  const worked = await performOneRun({
    store,
    clock,
    now: () => guard.now(),
    worker,
    executableJobs,
    leaseMs,
    aheadMs,
    signal: either,
    events,
    tracer,
  })
  return worked === undefined ? undefined : { kind: 'run', worked }
}

/** Has the store move what is no run; answers what this process moved, as another worker may have been faster. */
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

/** Takes back what workers and other programs that are gone have left in `running`; answers how many runs that were. */
export async function reclaimQueue(store: Store, queue: QueueAt): Promise<number> {
  const guard = await ClockGuard.open(store, systemClock, { acceptClock: true, history: 'kept' })
  const held = await foreignFiles(store, queue, ['running'])
  const lost = await reclaimLost(store, guard)
  return lost + held - (await foreignFiles(store, queue, ['running']))
}
