import { hostname } from 'node:os'
import { randomBytes } from 'node:crypto'
import { takeBackLost, workOne, type WorkedRun } from '../../engine/work-one.js'
import type { Store } from '../../store/store.js'
import { systemClock } from '../../time/clock.js'
import { failing, unclaimedCommands } from '../jobs/unclaimed.js'
import { performablesOf } from '../performables.js'
import { definePipelineJob } from './plans.js'
import { foreignFiles, type QueueAt } from './queue-runs.js'
import { Registry } from '../registry.js'
import { offerAfterDefaultMs } from '../rota-options.js'
import { packageVersion } from '../version.js'

/** Performs the next due run of a queue. */
export async function workQueue(
  store: Store,
  options: {
    readonly directory: string
    readonly environment: Readonly<Record<string, string | undefined>>
    readonly aheadMs: number
    /** How long this worker may be silent before its run is taken back. */
    readonly leaseMs: number
    readonly signal: AbortSignal
    readonly onLine: (text: string) => void
  },
): Promise<WorkedRun | undefined> {
  const { directory, environment, aheadMs, leaseMs, signal, onLine } = options
  const clock = systemClock
  await definePipelineJob(store, clock.now())
  const outside = { clock, environment, directory }
  const performables = new Map(await performablesOf({ registry: new Registry(), store, outside }))
  const release = new AbortController()
  const { over } = await unclaimedCommands(store, { now: clock.now(), offerAfterMs: offerAfterDefaultMs })
  for (const one of over) performables.set(one.job.name, failing(one, release))
  const host = hostname()
  const id = `${host}:${process.pid}:${randomBytes(4).toString('hex')}`
  const worker = { id, host, pid: process.pid, version: packageVersion }
  const either = AbortSignal.any([signal, release.signal])
  return await workOne({ store, clock, worker, performables, leaseMs, aheadMs, signal: either, onLine })
}

/** Takes back what workers and other programs that are gone have left in `running`; answers how many runs that were. */
export async function takeBack(store: Store, queue: QueueAt): Promise<number> {
  const held = await foreignFiles(store, queue, ['running'])
  const lost = await takeBackLost(store, systemClock)
  return lost + held - (await foreignFiles(store, queue, ['running']))
}
