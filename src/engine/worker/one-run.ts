/**
 * One run for a short-lived process, such as a command that cron starts: a worker with a limit of one run. A kill loses
 * nothing: the lease expires, and upkeep gives the run to the next worker.
 */
import { claimingTargets } from '../../kernel/hold/hold.js'
import type { AttemptEnd, Run } from '../../kernel/run/run.js'
import type { Claim, Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type { Ended } from './attempts.js'
import { Events } from '../events.js'
import { ErrorTracer } from './error-tracer.js'
import { Heartbeat } from './keep-alive.js'
import type { ExecutableJob } from './perform.js'
import { Worker } from './worker.js'

/** What is needed to perform one run. */
export interface OneRunOptions {
  readonly store: Store
  readonly clock: Clock
  readonly now: () => Instant
  readonly worker: {
    readonly id: string
    readonly host: string
    readonly pid: number
    readonly version: string
  }
  /** The jobs whose runs may be claimed. */
  readonly executableJobs: ReadonlyMap<string, ExecutableJob>
  readonly leaseMs: number
  /** If no run is due, claims one that becomes due within this time; default: 0. */
  readonly aheadMs?: number | undefined
  /** Stops the run and releases it. */
  readonly signal: AbortSignal
  readonly events?: Events | undefined
  readonly tracer?: ErrorTracer | undefined
}

/** The run that was claimed, and how the attempt ended. */
export interface PerformedRun {
  readonly run: Run
  /** `lost`: the claim was no longer current when the end was submitted, so the result of the other worker counts. */
  readonly end: AttemptEnd
  readonly durationMs: number
}

/** How often the worker checks whether its run was cancelled. */
const pollMs = 2000

/** Claims the next due run, performs it and stores its end; undefined if there is none. */
export async function performOneRun(options: OneRunOptions): Promise<PerformedRun | undefined> {
  const { store, clock, now, worker: identity, leaseMs, signal } = options
  const seen: Seen = {}
  const worker = new Worker({
    id: identity.id,
    store,
    clock,
    now,
    events: options.events ?? new Events(),
    tracer: options.tracer ?? new ErrorTracer(),
    concurrency: () => 1,
    executableJobs: async () => options.executableJobs,
    pollMs,
    onDue: () => undefined,
    onExpired: () => undefined,
    pass: {
      limit: 1,
      onClaim: (claim) => Object.assign(seen, { claim, claimedMs: clock.monotonicMs() }),
      onEnd: (ended, isStored) => Object.assign(seen, { ended, isStored }),
    },
  })
  const onExpired = (): void => worker.expire()
  const heartbeat = new Heartbeat({ worker: identity.id, leaseMs, store, clock, now, onExpired })
  await store.register({ ...identity, now: now(), leaseMs })
  heartbeat.start()
  try {
    await passUntil(worker, signal)
    if (seen.claim === undefined) await passAhead(worker, options, seen)
  } finally {
    worker.abandon()
    await heartbeat.stop()
    await store.retire({ worker: identity.id, now: now() }).catch(() => undefined)
  }
  return await performed(options, seen)
}

/** The progress of a pass. */
interface Seen {
  claim?: Claim
  claimedMs?: number
  ended?: Ended
  isStored?: boolean
}

async function passUntil(worker: Worker, signal: AbortSignal): Promise<void> {
  await worker.pass(signal)
  if (!signal.aborted) return
  await worker.drain(signal)
  // The lease is kept until the handler has stopped, however long that takes.
  await worker.abort(new AbortController().signal)
}

async function performed(
  { store, clock }: OneRunOptions,
  { claim, claimedMs = 0, ended, isStored }: Seen,
): Promise<PerformedRun | undefined> {
  if (claim === undefined) return undefined
  const goneMs = Math.round(clock.monotonicMs() - claimedMs)
  const run = (await store.run(claim.run)) as Run
  if (ended === undefined) return { run, end: 'lost', durationMs: goneMs }
  const { outcome, startedAt, endedAt } = ended.finished
  const durationMs = startedAt === undefined ? 0 : endedAt - startedAt
  return { run, end: isStored === true ? outcome.end : 'lost', durationMs }
}

/** Lets the next run that waits for its instant be claimed now, if that instant is near enough. */
async function passAhead(
  worker: Worker,
  { store, now, aheadMs = 0, executableJobs, signal }: OneRunOptions,
  seen: Seen,
): Promise<void> {
  if (aheadMs === 0 || signal.aborted) return
  const held = new Set<string>((await store.holds({ openAt: now() })).map(({ target }) => target))
  // A run that cannot be claimed must keep its instant: otherwise it would start early once the hold ends.
  if (claimingTargets.some((target) => held.has(target))) return
  for (const run of await waitingUntil(store, now() + aheadMs)) {
    const executableJob = executableJobs.get(run.job)
    if (executableJob === undefined || held.has(`queue:${executableJob.job.queue}`)) continue
    await store.advance({ run: run.id, now: now() })
    await passUntil(worker, signal)
    if (seen.claim !== undefined || signal.aborted) return
  }
}

const page = 1000

/** Pending runs that are due until an instant, the earliest first. */
async function waitingUntil(store: Store, untilAt: Instant): Promise<readonly Run[]> {
  const found: Run[] = []
  for (let before: string | undefined; ; ) {
    const runs = await store.runs({ state: 'pending', limit: page, before })
    found.push(...runs.filter((run) => run.runAt <= untilAt))
    before = runs.at(-1)?.id
    if (runs.length < page) break
  }
  return found.toSorted((a, b) => a.runAt - b.runAt || (a.id < b.id ? -1 : 1))
}
