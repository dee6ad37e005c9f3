import { hostname } from 'node:os'
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { takeBackLost, workOne, type WorkedRun } from '../engine/work-one.js'
import { RotaError } from '../model/errors.js'
import type { Run } from '../model/run.js'
import type { Store } from '../store/store.js'
import { systemClock } from '../time/clock.js'
import { openStore } from './open-store.js'
import { performablesOf } from './performables.js'
import { definePipelineJob } from './plans.js'
import { allRuns, itemOf } from './queue-list.js'
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
    readonly aheadMs: number
    readonly signal: AbortSignal
    readonly onLine: (text: string) => void
  },
): Promise<WorkedRun | undefined> {
  const { directory, environment, aheadMs, signal, onLine } = options
  const clock = systemClock
  await definePipelineJob(store, clock.now())
  const outside = { clock, environment, directory }
  const performables = await performablesOf({ registry: new Registry(), store, outside })
  const host = hostname()
  const id = `${host}:${process.pid}:${randomBytes(4).toString('hex')}`
  const worker = { id, host, pid: process.pid, version: packageVersion }
  return await workOne({ store, clock, worker, performables, leaseMs, aheadMs, signal, onLine })
}

/** Takes back what workers that are gone have left in `running`; answers how many runs that were. */
export async function takeBack(store: Store): Promise<number> {
  return await takeBackLost(store, systemClock)
}

/** The run of a queue that somebody means by its `job_id`, its `run_id` or its id. */
export async function findQueued(store: Store, id: string): Promise<Run> {
  const found = (await allRuns(store)).filter((run) => {
    const { jobId, runId } = itemOf(run)
    return [run.id, jobId, runId].includes(id)
  })
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

/** Why nothing may be planned at present, where a freeze or a stored switch says so. */
export async function planningHold(store: Store): Promise<string | undefined> {
  const holds = await store.holds({ openAt: systemClock.now() })
  const targets: readonly string[] = ['all', 'switch:pipeline', 'switch:scheduler']
  const hold = holds.find((one) => targets.includes(one.target))
  if (hold === undefined) return undefined
  return hold.target === 'all' ? 'everything is frozen' : `the stored ${hold.target} is off`
}
