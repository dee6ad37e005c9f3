import { RotaError } from '../../kernel/definition/errors.js'
import type { HolderNotice } from '../../kernel/run/fact.js'
import { decide, type AttemptResult } from '../../kernel/run/outcome.js'
import type { LogLine } from '../../kernel/run/run.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { jobDefaults, type Job } from '../../kernel/job/job.js'
import type { Claim, Finished } from '../../store/port.js'
import type { EngineEvents, Events, RunNotice } from '../events.js'
import type { ErrorTracer } from './error-tracer.js'
import { Performance, type Failed, type ExecutableJob, type PerformDeps, type StopReason } from './perform.js'

/** What the attempts of a worker need. */
export interface AttemptsOptions {
  readonly clock: Clock
  readonly now: () => Instant
  readonly events: Events
  readonly tracer: ErrorTracer
  readonly concurrency: () => number
  readonly log: (claim: Claim, level: LogLine['level'], text: string) => void
  /** Called when an attempt ended or a slot became free. */
  readonly onChange: () => void
}

/** An attempt whose end is decided. */
export interface Ended {
  readonly finished: Finished
  readonly claim: Claim
}

/** How many attempts may begin in one event loop cycle. */
const beginsInOneGo = 1024

/** After so long without a begin, waiting claims that other runs may wait for are released. */
const stalledMs = 1000

/** The claims of a worker: waiting, running, or ended and not submitted yet. */
export class Attempts {
  readonly #options: AttemptsOptions
  readonly #deps: PerformDeps
  #executableJobs: ReadonlyMap<string, ExecutableJob> = new Map()
  #waiting: Claim[] = []
  #head = 0
  readonly #performing = new Set<Performance>()
  #ended: Ended[] = []
  /** Ends that were already submitted, but not confirmed. */
  #putBack: readonly Ended[] = []
  #isBeginning = false
  /** When an attempt began, or had to wait because there was no slot. */
  #movedAtMs = 0
  #begun = 0

  constructor(options: AttemptsOptions) {
    this.#options = options
    this.#deps = {
      clock: options.clock,
      now: options.now,
      tracer: options.tracer,
      log: (performance, level, text) => options.log(performance.claim, level, text),
      ended: (performance, result) => this.#end(performance, result),
      failedLate: (performance, failure) => this.#failLate(performance, failure),
      stuck: (performance) => this.#tellStuck(performance),
      settled: (performance) => this.#settle(performance),
    }
  }

  get waiting(): number {
    return this.#waiting.length - this.#head
  }

  get performing(): number {
    return this.#performing.size
  }

  /** How many slots are taken by handlers that ignored their signal. */
  get stuck(): number {
    let stuck = 0
    for (const performance of this.#performing) if (performance.reported) stuck += 1
    return stuck
  }

  /** How many have ended and are not submitted. */
  get ended(): number {
    return this.#ended.length + this.#putBack.length
  }

  get hasEnded(): boolean {
    return this.ended > 0
  }

  /** Whether an attempt is waiting or running and its end is not known yet. */
  get isGoingOn(): boolean {
    return this.waiting > 0 || this.stuck < this.#performing.size
  }

  /** How soon waiting attempts may have to be released because nothing begins. */
  get stallsInMs(): number {
    return this.waiting > 0 ? stalledMs : Infinity
  }

  /** Sets the jobs that this process can execute from now on. */
  setJobs(executableJobs: ReadonlyMap<string, ExecutableJob>): void {
    this.#executableJobs = executableJobs
  }

  add(claims: readonly Claim[]): void {
    if (this.waiting === 0) this.#movedAtMs = this.#options.clock.monotonicMs()
    this.#waiting = this.waiting === 0 ? [...claims] : [...this.#waiting.slice(this.#head), ...claims]
    this.#head = 0
  }

  /** Whether it has an attempt: waiting, running, or ended and not submitted. */
  holds(run: { readonly id: string; readonly attempt: number }): boolean {
    const isIt = (claim: Claim): boolean => claim.run === run.id && claim.attempt === run.attempt
    if (this.#waiting.slice(this.#head).some(isIt)) return true
    if ([...this.#putBack, ...this.#ended].some(({ claim }) => isIt(claim))) return true
    for (const performance of this.#performing) if (isIt(performance.claim)) return true
    return false
  }

  /** Begins waiting attempts while there are slots. `fresh` starts a new event loop cycle. */
  begin(fresh: boolean): void {
    if (fresh) this.#begun = 0
    if (this.#isBeginning) return
    this.#isBeginning = true
    if (this.#canBegin) this.#movedAtMs = this.#options.clock.monotonicMs()
    while (this.#canBegin && this.#begun < beginsInOneGo) {
      this.#begun += 1
      this.#perform(this.#waiting[this.#head++] as Claim)
    }
    this.#isBeginning = false
    // The others begin in the next cycle, even if none of these ends soon.
    if (this.#canBegin) this.#options.onChange()
  }

  get #canBegin(): boolean {
    return this.waiting > 0 && this.#performing.size < this.#options.concurrency()
  }

  /** Removes and returns the ends to submit. */
  takeEnded(): readonly Ended[] {
    const ended = this.#putBack.length === 0 ? this.#ended : [...this.#putBack, ...this.#ended]
    this.#putBack = []
    this.#ended = []
    return ended
  }

  /** Puts back ends that could not be submitted. */
  putBack(ended: readonly Ended[]): void {
    this.#putBack = [...ended, ...this.#putBack]
  }

  /** Releases attempts that have not begun, so that other workers can claim them. */
  releaseWaiting(): void {
    for (const claim of this.#takeWaiting()) this.#endUnbegun(claim, { kind: 'released' })
  }

  /** Releases limited attempts while no slot becomes free: other workers may have one, and other runs wait for them. */
  releaseStalled(): void {
    if (this.waiting === 0 || this.#options.clock.monotonicMs() - this.#movedAtMs < stalledMs) return
    const waiting = this.#takeWaiting()
    this.add(waiting.filter(({ isLimited }) => isLimited !== true))
    for (const claim of waiting) if (claim.isLimited === true) this.#endUnbegun(claim, { kind: 'released' })
  }

  /** Releases waiting attempts and stops the others, because the lease has expired. */
  expire(): void {
    this.releaseWaiting()
    this.stopAll('expired')
  }

  stopAll(reason: StopReason): void {
    for (const performance of this.#performing) performance.stop(reason)
  }

  /** Ends stopped attempts without waiting for their handlers any longer. */
  abandonAll(): void {
    for (const performance of this.#performing) performance.abandon()
  }

  /** Handles a notice of the store about one claim. */
  obey(notice: HolderNotice): void {
    const isIt = (claim: Claim): boolean => claim.run === notice.run && claim.attempt === notice.attempt
    for (const performance of this.#performing) {
      if (isIt(performance.claim)) performance.stop(notice.kind === 'cancel' ? 'cancelled' : 'terminated')
    }
    const waiting = this.#takeWaiting()
    this.add(waiting.filter((claim) => !isIt(claim)))
    const asked = waiting.find(isIt)
    if (asked !== undefined && notice.kind === 'cancel') this.#endUnbegun(asked, cancelledUnbegun)
  }

  #takeWaiting(): Claim[] {
    const waiting = this.#waiting.slice(this.#head)
    this.#waiting = []
    this.#head = 0
    return waiting
  }

  #perform(claim: Claim): void {
    const executableJob = this.#executableJobs.get(claim.job)
    if (executableJob === undefined) {
      this.#endUnbegun(claim, { kind: 'released' })
      return
    }
    const performance = new Performance(claim, executableJob.job, this.#deps)
    this.#performing.add(performance)
    if (this.#options.events.has('run:started')) this.#options.events.emit('run:started', noticeOf(claim))
    performance.run(executableJob.handler)
  }

  #settle(performance: Performance): void {
    this.#performing.delete(performance)
    this.begin(false)
    this.#options.onChange()
  }

  #end(performance: Performance, result: AttemptResult): void {
    this.#decide(performance.claim, performance.job, { result, startedAt: performance.startedAt })
  }

  #endUnbegun(claim: Claim, result: AttemptResult): void {
    const job = this.#executableJobs.get(claim.job)?.job ?? { ...jobDefaults, name: claim.job }
    this.#decide(claim, job, { result, startedAt: undefined })
  }

  /** A result that was not submitted yet becomes a failure; later, or after a stop, the error is only reported. */
  #failLate(performance: Performance, failure: Failed): void {
    const { claim } = performance
    const index = this.#ended.findIndex((one) => one.claim === claim && one.finished.outcome.end === 'done')
    if (index >= 0) {
      this.#ended.splice(index, 1)
      this.#end(performance, failure)
      return
    }
    const error = lateError(failure)
    this.#options.events.emit('trouble', { where: performance.title, error, retryInMs: 0 })
  }

  #decide(claim: Claim, job: Job, end: { result: AttemptResult; startedAt: Instant | undefined }): void {
    const endedAt = this.#options.now()
    const run = { id: claim.run, dueAt: claim.dueAt, failures: claim.failures, crashes: claim.crashes }
    const outcome = decide(end.result, { run, job, now: endedAt })
    const finished = { run: claim.run, attempt: claim.attempt, outcome, startedAt: end.startedAt, endedAt }
    this.#ended.push({ claim, finished })
    this.#options.onChange()
  }

  #tellStuck(performance: Performance): void {
    const { events, concurrency } = this.#options
    events.emit('run:stuck', noticeOf(performance.claim))
    const { stuck } = this
    if (stuck >= concurrency()) events.emit('worker:not-ready', { stuck })
  }
}

/** The notice about an attempt, for events. */
export function noticeOf(claim: Claim): RunNotice {
  return {
    run: claim.run,
    job: claim.job,
    trigger: claim.trigger,
    attempt: claim.attempt,
    dueAt: claim.dueAt,
  }
}

/** The notice about the end of an attempt, for events. */
export function endOf({ claim, finished }: Ended): EngineEvents['run:ended'] {
  const { outcome, startedAt, endedAt } = finished
  // Without a spread, which would cost more than the rest of the event.
  return {
    run: claim.run,
    job: claim.job,
    trigger: claim.trigger,
    attempt: claim.attempt,
    dueAt: claim.dueAt,
    end: outcome.end,
    state: outcome.state,
    durationMs: endedAt - (startedAt ?? endedAt),
    error: outcome.error,
    result: outcome.result,
    retryAt: outcome.state === 'pending' ? outcome.runAt : undefined,
  }
}

/** The error to report for an uncaught error that came too late to change the result. */
export function lateError({ error }: Failed): RotaError {
  const message = `an uncaught error came after the end of the attempt was decided: ${error.message}`
  return new RotaError('HANDLER_FAILED', message)
}

const cancelledUnbegun: AttemptResult = {
  kind: 'cancelled',
  error: { code: 'CANCELLED', message: 'cancelled before it began' },
}
