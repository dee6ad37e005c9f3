import type { Events } from '../../engine/events.js'
import { offerAfterDefaultMs } from '../../formats/config/settings.js'
import { Loop, type Look } from '../../engine/loop.js'
import { isUnclaimedJob } from '../../engine/worker/command-run.js'
import type { ExecutableJob, RunContext } from '../../engine/worker/perform.js'
import { performOneRun } from '../../engine/worker/one-run.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { shown } from '../../kernel/definition/faults.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Job } from '../../kernel/job/job.js'
import { jobsSource } from '../../kernel/job/command-source.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { newWorkerId, workerIdentity } from '../../handlers/worker-identity.js'
import type { HandlerExtension } from '../../handlers/executable-jobs.js'
import { commandOf, fallbackHandler, performerOf } from './performers.js'

/** What failing unclaimed commands needs. */
export interface UnclaimedOptions {
  readonly store: Store
  readonly clock: Clock
  readonly now: () => Instant
  readonly events: Events
  readonly leaseMs: number
  /** How long a run waits before the bus offers it; if nobody takes it within twice that time, it fails. */
  readonly offerAfterMs: number
  /** The slow poll behind all hints. */
  readonly pollMs: number
}

/** How many runs of one command are read in one query. */
const mostRuns = 100

/**
 * Starts to fail runs of commands that nobody takes. Workers do not claim them, so that the bus can offer them. A run
 * that no subscriber has taken within twice `offerAfter` fails with a code. Returns the function that stops this.
 */
export function failUnclaimedRuns(options: UnclaimedOptions): () => Promise<void> {
  const { store, clock, now, events, offerAfterMs } = options
  const pollMs = Math.max(leastPollMs, options.pollMs)
  const restMs = Math.max(noneMs, pollMs)
  const step = async (): Promise<Look> => {
    const { over, nextAt, hasCommands } = await unclaimedCommands(store, { now: now(), offerAfterMs })
    for (const one of over) await fail(one, options)
    // A duration, not an instant: while a jump of the wall clock is unconfirmed, our instants are behind the clock.
    return { afterMs: hasCommands ? Math.max(1, Math.min(nextAt - now(), pollMs)) : restMs }
  }
  const loop = new Loop({ name: 'commands', seed: newWorkerId(), clock, events, pollMs: restMs, step })
  const unlisten = events.on('tick', ({ runs }) => {
    if (runs.some(({ job }) => isUnclaimedJob(job))) loop.wake()
  })
  loop.start()
  return async () => {
    unlisten()
    await loop.stop()
  }
}

/** Claims the runs as any worker would. */
async function fail(unclaimed: Unclaimed, options: UnclaimedOptions): Promise<void> {
  for (let i = 0; i < unclaimed.runs.size; i++) {
    const release = new AbortController()
    const worked = await performOneRun({
      ...options,
      worker: { ...workerIdentity(), id: newWorkerId() },
      executableJobs: new Map([[unclaimed.job.name, failing(unclaimed, () => release.abort())]]),
      signal: release.signal,
    })
    if (worked === undefined || release.signal.aborted) return
  }
}

const leastPollMs = 10_000

/** How often it looks whether there are command jobs, as long as there are none. */
const noneMs = 60_000

/** Runs of one job that fail because nobody has taken them in time. */
interface Unclaimed {
  readonly job: Job
  readonly runs: ReadonlySet<RunId>
}

/** Runs of commands that nobody takes: those that fail now, and when the next one fails. */
async function unclaimedCommands(
  store: Store,
  { now, offerAfterMs }: { readonly now: Instant; readonly offerAfterMs: number },
): Promise<{ readonly over: readonly Unclaimed[]; readonly nextAt: Instant; readonly hasCommands: boolean }> {
  const jobs = await store.jobs()
  const over: Unclaimed[] = []
  let nextAt = Infinity
  let hasCommands = false
  for (const { job, source } of jobs) {
    if (source !== jobsSource || !isUnclaimedJob(job.name)) continue
    hasCommands = true
    const runs = new Set<RunId>()
    for (const run of await store.runs({ state: 'pending', job: job.name, limit: mostRuns })) {
      const isTaken = !isUnclaimedJob(performerOf(commandOf(run), jobs))
      if (isTaken || run.waitsFor !== undefined) continue
      const at = Math.max(run.runAt, run.createdAt) + 2 * offerAfterMs
      if (at <= now) runs.add(run.id)
      else nextAt = Math.min(nextAt, at)
    }
    if (runs.size > 0) over.push({ job, runs })
  }
  return { over, nextAt, hasCommands }
}

/** The handlers of command jobs. In a process that performs one run, this may be a run that fails because nobody took it. */
export const commandHandlers: HandlerExtension = {
  fallback: fallbackHandler,
  onePass: async (store, { now, release }) => {
    const { over } = await unclaimedCommands(store, { now, offerAfterMs: offerAfterDefaultMs })
    return over.map((one) => failing(one, release))
  },
}

/** Fails the runs that nobody took; releases any other run that was claimed instead. */
function failing({ job, runs }: Unclaimed, release: () => void): ExecutableJob {
  const handler = (run: RunContext): void => {
    if (!runs.has(run.id)) return release()
    const command = shown(commandOf(run))
    const message = `no job is named ${command}, no app handles commands, and no subscriber of the bus took it`
    throw new RotaError('COMMAND_UNKNOWN', message)
  }
  return { job, handler }
}
