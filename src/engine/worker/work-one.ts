/**
 * One run for a process that comes and goes: it takes back what dead workers left, claims the next due run, performs it
 * under a lease of its own, stores its end, and retires. A kill loses nothing: the lease runs out, and whoever comes
 * next takes the run back.
 */
import { claimingTargets } from '../../kernel/hold/hold.js'
import { decide, type AttemptResult } from '../../kernel/run/outcome.js'
import type { Run } from '../../kernel/run/run.js'
import type { Claim, Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { endOf, lateError, noticeOf } from './attempts.js'
import type { ClockGuard } from '../scheduler/clock-guard.js'
import { Events } from '../events.js'
import { Heartbeat } from './keep-alive.js'
import { LogBuffer } from './log-buffer.js'
import { ErrorTracer } from './error-tracer.js'
import { Performance, type Failed, type ExecutableJob } from './perform.js'
import { Upkeep } from '../upkeep/upkeep.js'

/** What is needed to perform one run. */
export interface WorkOneOptions {
  readonly store: Store
  readonly clock: Clock
  /** What counts as now. */
  readonly now: () => Instant
  readonly worker: {
    readonly id: string
    readonly host: string
    readonly pid: number
    readonly version: string
  }
  readonly executableJobs: ReadonlyMap<string, ExecutableJob>
  readonly leaseMs: number
  /** Takes what is due this far ahead, where nothing is due yet. */
  readonly aheadMs: number
  /** Hands the run back. */
  readonly signal: AbortSignal
  /** Hears of every line that the run writes. */
  readonly onLine: (text: string) => void
  /** Told of the attempt, where anyone listens. */
  readonly events?: Events | undefined
  /** Traces errors that nobody caught; where it is absent, nobody asks. */
  readonly tracer?: ErrorTracer | undefined
}

/** What became of the run that was taken. */
export interface WorkedRun {
  readonly run: Run
  /** `lost`: the claim was somebody else's before the end could be stored, so that what they did counts. */
  readonly result: AttemptResult['kind']
  readonly durationMs: number
}

/** Performs the next due run, by the time of a guard; gives undefined where there is none. */
export async function workOne(
  options: Omit<WorkOneOptions, 'now'> & { readonly guard: ClockGuard },
): Promise<WorkedRun | undefined> {
  const { guard } = options
  await reclaimLost(options.store, guard)
  return await performNext({ ...options, now: () => guard.now() })
}

/** Performs the next due run; what dead workers left is somebody else's to take back. */
export async function performNext(options: WorkOneOptions): Promise<WorkedRun | undefined> {
  const { store, clock, now, leaseMs, worker } = options
  await store.register({ ...worker, now: now(), leaseMs })
  const registeredMs = clock.monotonicMs()
  try {
    const claim = (await claimOne(options)) ?? (await claimPrefetched(options))
    // On a busy machine the claim itself may have used up a part of the lease.
    const isDue = clock.monotonicMs() - registeredMs > leaseMs / 3
    return claim === undefined ? undefined : await performOne(claim, { ...options, isDue })
  } finally {
    await store.retire({ worker: worker.id, now: now() })
  }
}

/**
 * Sends what workers that are gone have left behind through the same decision as any other end. One whose lease is longer
 * than time has been steady is not taken for gone yet.
 */
export async function reclaimLost(
  store: Store,
  guard: Pick<ClockGuard, 'now' | 'steadyMs'>,
): Promise<number> {
  const events = new Events()
  let count = 0
  events.on('run:lost', () => void (count += 1))
  const upkeep = new Upkeep({
    store,
    events,
    now: () => guard.now(),
    // Not 0: what workers have given up by themselves is taken back however the clock behaves.
    steadyMs: () => Math.max(1, guard.steadyMs()),
    everyMs: 0,
    // Nothing is old enough: history of a queue that people read is theirs to remove.
    retentionMs: Infinity,
    onRuns: () => undefined,
  })
  await upkeep.step()
  return count
}

async function claimOne({ store, now, worker, executableJobs }: WorkOneOptions): Promise<Claim | undefined> {
  const claimRequest = { jobs: [...executableJobs.keys()], slots: 1, prefetch: 0 }
  const { claims } = await store.turn({ worker: worker.id, now: now(), finished: [], claimRequest })
  return claims[0]
}

/** Lets the next run that waits for its instant be claimed now, if that instant is near enough. */
async function claimPrefetched(options: WorkOneOptions): Promise<Claim | undefined> {
  const { store, aheadMs, executableJobs } = options
  const now = options.now()
  if (aheadMs === 0) return undefined
  const held = new Set<string>((await store.holds({ openAt: now })).map(({ target }) => target))
  // A run that cannot be claimed must keep its instant: else it would be early once the hold ends.
  if (claimingTargets.some((target) => held.has(target))) return undefined
  for (const run of await waitingUntil(store, now + aheadMs)) {
    const executableJob = executableJobs.get(run.job)
    if (executableJob === undefined || held.has(`queue:${executableJob.job.queue}`)) continue
    await store.advance({ run: run.id, now })
    const claim = await claimOne(options)
    if (claim !== undefined) return claim
  }
  return undefined
}

const page = 1000

/** Pending runs whose instant comes until then, the earliest first. */
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

/** What performing a claim needs. */
interface ClaimOptions extends WorkOneOptions {
  /** Whether the lease is to be renewed at once. */
  readonly isDue: boolean
}

async function performOne(claim: Claim, options: ClaimOptions): Promise<WorkedRun> {
  const { store, clock, worker } = options
  const { job, handler } = options.executableJobs.get(claim.job) as ExecutableJob
  const lines = new LogBuffer(store, clock, () => undefined)
  const startedMs = clock.monotonicMs()
  const attempt = new Attempt(claim, { job, handler }, options, lines)
  const result = await attempt.ended
  const durationMs = Math.round(clock.monotonicMs() - startedMs)
  lines.flush()
  let isStored = false
  if (result !== undefined) {
    const now = options.now()
    const { run: id, dueAt, failures, crashes } = claim
    const outcome = decide(result, { run: { id, dueAt, failures, crashes }, job, now })
    const { startedAt } = attempt
    const finished = { run: id, attempt: claim.attempt, outcome, startedAt, endedAt: now }
    const answer = await store.turn({ worker: worker.id, now, finished: [finished], claimRequest: undefined })
    isStored = answer.finished[0] !== 'stale'
    if (isStored) options.events?.emit('run:ended', endOf({ claim, finished }))
    else options.events?.emit('run:refused', noticeOf(claim))
  }
  const run = (await store.run(claim.run)) as Run
  return { run, result: result !== undefined && isStored ? result.kind : 'lost', durationMs }
}

/** How often the store is asked whether the run is to stop. */
const noticeMs = 2000

/** The attempt while it goes on: its lease is kept, a cancel is heard, a signal hands it back. */
class Attempt {
  /** What it came to; undefined where its claim is somebody else's by now. */
  readonly ended: Promise<AttemptResult | undefined>
  readonly startedAt: number
  readonly #performance: Performance
  readonly #over = new AbortController()
  #result: AttemptResult | undefined
  #isDecided = false

  constructor(claim: Claim, executableJob: ExecutableJob, options: ClaimOptions, lines: LogBuffer) {
    const { store, clock, now, worker, leaseMs, signal, isDue, tracer = new ErrorTracer() } = options
    let settle = (): void => undefined
    const settled = new Promise<void>((resolve) => {
      settle = resolve
    })
    this.#performance = new Performance(claim, executableJob.job, {
      clock,
      now,
      tracer,
      log: (_, level, text) => {
        lines.add({ run: claim.run, attempt: claim.attempt, at: now(), level, text })
        options.onLine(text)
        options.events?.emit('run:log', { run: claim.run, job: claim.job, level, text })
      },
      ended: (_, result) => {
        this.#result = result
        settle()
      },
      failedLate: (performance, failure) => this.#failLate(performance, failure, options.events),
      stuck: () => undefined,
      settled: () => settle(),
    })
    this.startedAt = this.#performance.startedAt
    const onExpired = (): void => this.#performance.stop('expired')
    const keepAlive = new Heartbeat({ worker: worker.id, leaseMs, store, clock, now, isDue, onExpired })
    const handBack = (): void => this.#performance.stop('released')
    keepAlive.start()
    signal.addEventListener('abort', handBack, { once: true })
    if (signal.aborted) handBack()
    const listening = this.#listen(claim, options)
    this.ended = settled.then(async () => {
      this.#over.abort()
      signal.removeEventListener('abort', handBack)
      await Promise.all([keepAlive.stop(), listening, tracer.taken()])
      this.#isDecided = true
      return this.#result
    })
    options.events?.emit('run:started', noticeOf(claim))
    this.#performance.run(executableJob.handler)
  }

  /** A result that is not stored yet still becomes a failure; after that, or for one that was stopped, it is only told. */
  #failLate({ title }: Performance, failure: Failed, events: Events | undefined): void {
    if (!this.#isDecided && this.#result?.kind === 'done') this.#result = failure
    else events?.emit('trouble', { where: title, error: lateError(failure), retryInMs: 0 })
  }

  async #listen({ run }: Claim, { store, clock, now, worker }: WorkOneOptions): Promise<void> {
    const { signal } = this.#over
    await clock.sleep(noticeMs, signal)
    while (!signal.aborted) {
      const turn = { worker: worker.id, now: now(), finished: [], claimRequest: undefined }
      // A store in trouble is told of when the result is stored; here the next look will do.
      const answer = await store.turn(turn).catch(() => undefined)
      const notice = answer?.notices.find((one) => one.run === run)
      if (notice !== undefined) this.#performance.stop(notice.kind === 'cancel' ? 'cancelled' : 'terminated')
      if (answer?.expired === true) this.#performance.stop('expired')
      await clock.sleep(noticeMs, signal)
    }
  }
}
