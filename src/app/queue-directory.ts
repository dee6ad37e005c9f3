import { hostname } from 'node:os'
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { takeBackLost, workOne, type WorkedRun } from '../engine/work-one.js'
import { RotaError } from '../model/errors.js'
import type { Labels, Run, StoredError } from '../model/run.js'
import { pipelinePayloadOf, queueErrorOf as errorOf, type QueueError } from '../model/pipeline.js'
import type { Store } from '../store/store.js'
import { systemClock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import { openStore } from './open-store.js'
import { performablesOf } from './performables.js'
import { definePipelineJob } from './plans.js'
import { Registry } from './registry.js'
import { retryRun } from './runs.js'
import { packageVersion } from './version.js'

/** Opens a queue directory, and makes it where there is none. */
export async function makeQueue(path: string, directory: string): Promise<Store> {
  const url = `files:${resolve(directory, path)}`
  return await openStore(url, { clock: systemClock, directory, durability: 'full', create: true })
}

/** Opens a queue directory, where there is one. */
export async function openQueue(path: string, directory: string): Promise<Store | undefined> {
  const url = `files:${resolve(directory, path)}`
  try {
    return await openStore(url, { clock: systemClock, directory, durability: 'full', create: false })
  } catch (error) {
    if (error instanceof RotaError && error.code === 'STORE_NOT_FOUND') return undefined
    throw error
  }
}

/** How long a worker that comes and goes may be silent. */
const leaseMs = 30_000

/** Performs the next due run of a queue. */
export async function workQueue(
  store: Store,
  options: {
    readonly directory: string
    readonly environment: Readonly<Record<string, string | undefined>>
    readonly signal: AbortSignal
    readonly onLine: (text: string) => void
  },
): Promise<WorkedRun | undefined> {
  const { directory, environment, signal, onLine } = options
  const clock = systemClock
  await definePipelineJob(store, clock.now())
  const outside = { clock, environment, directory }
  const performables = await performablesOf({ registry: new Registry(), store, outside })
  const host = hostname()
  const id = `${host}:${process.pid}:${randomBytes(4).toString('hex')}`
  const worker = { id, host, pid: process.pid, version: packageVersion }
  return await workOne({ store, clock, worker, performables, leaseMs, signal, onLine })
}

/** Takes back what workers that are gone have left in `running`; answers how many runs that were. */
export async function takeBack(store: Store): Promise<number> {
  return await takeBackLost(store, systemClock)
}

/** The run that would be taken next: the earliest one that is due. */
export async function nextRun(store: Store, now: Instant): Promise<Run | undefined> {
  const pending = await allRuns(store, { state: 'pending' })
  return pending
    .filter((run) => run.runAt <= now)
    .toSorted((a, b) => b.priority - a.priority || a.runAt - b.runAt || (jobIdOf(a) < jobIdOf(b) ? -1 : 1))[0]
}

const page = 1000

/** Every run of a queue, in the order of its files. */
export async function allRuns(
  store: Store,
  filter: { readonly state?: Run['state'] | undefined } = {},
): Promise<readonly Run[]> {
  const found: Run[] = []
  for (let before: string | undefined; ; ) {
    const runs = await store.runs({ ...filter, limit: page, before })
    found.push(...runs)
    before = runs.at(-1)?.id
    if (runs.length < page) break
  }
  return found.toSorted((a, b) => a.dueAt - b.dueAt || (jobIdOf(a) < jobIdOf(b) ? -1 : 1))
}

/** The run of a queue that somebody means by its `job_id`, its `run_id` or its id. */
export async function findQueued(store: Store, id: string): Promise<Run> {
  const found = (await allRuns(store)).filter(
    (run) => jobIdOf(run) === id || runIdOf(run) === id || run.id === id,
  )
  const [run, second] = found
  if (run === undefined) throw new RotaError('RUN_UNKNOWN', `no run of the queue has the id ${id}`)
  if (second === undefined) return run
  const ids = found.map((one) => one.id).join(', ')
  throw new RotaError('RUN_UNKNOWN', `more than one run of the queue has the id ${id}: ${ids}`)
}

/** Gives a failed or cancelled run another try, now. */
export async function retryQueued(store: Store, id: string): Promise<Run> {
  return await retryRun(store, { id, now: systemClock.now() })
}

/** The name by which other programs know what a run does. */
export function jobIdOf(run: { readonly id: string; readonly labels: Labels | undefined }): string {
  return run.labels?.['job_id'] ?? run.id
}

/** The name by which other programs know a run. */
export function runIdOf(run: { readonly id: string; readonly labels: Labels | undefined }): string {
  return run.labels?.['run_id'] ?? run.id
}

/** The pipeline file of a run, or nothing. */
export function pipelinePathOf(run: Pick<Run, 'payload'>): string {
  return pipelinePayloadOf(run.payload)?.pipeline_path ?? ''
}

/** Why nothing may be planned at present, where a freeze or a stored switch says so. */
export async function planningHold(store: Store): Promise<string | undefined> {
  const holds = await store.holds({ openAt: systemClock.now() })
  const targets: readonly string[] = ['all', 'switch:pipeline', 'switch:scheduler']
  const hold = holds.find((one) => targets.includes(one.target))
  if (hold === undefined) return undefined
  return hold.target === 'all' ? 'everything is frozen' : `the stored ${hold.target} is off`
}

/** The codes that a summary may have; every other failure is the pipeline's. */
const summaryCodes: readonly string[] = ['job_invalid', 'timed_out', 'cancelled']

/** The error of a run in the words of summaries. */
export function queueErrorOf(error: StoredError): QueueError {
  const told = errorOf(error)
  return summaryCodes.includes(told.code) ? told : { ...told, code: 'orchestrator_failed' }
}
