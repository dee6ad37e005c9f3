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
  readonly concurrency: number
  readonly log: (claim: Claim, level: LogLine['level'], text: string) => void
  /** Something ended or a slot became free: a turn is due soon. */
  readonly onChange: () => void
}

/** An attempt whose end is decided. */
export interface Ended {
  readonly finished: Finished
  readonly claim: Claim
}

/** How many attempts may begin before timers and sockets get their turn. */
const beginsInOneGo = 1024

/** What a worker holds: claims at hand, attempts that are going on, and ends that are not handed in yet. */
export class Attempts {
  readonly #options: AttemptsOptions
  readonly #deps: PerformDeps
  #executableJobs: ReadonlyMap<string, ExecutableJob> = new Map()
  #atHand: Claim[] = []
  #head = 0
  readonly #performing = new Set<Performance>()
  #ended: Ended[] = []
  /** What was handed in already, perhaps in vain. */
  #givenBack: readonly Ended[] = []
  #isBeginning = false
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

  get atHand(): number {
    return this.#atHand.length - this.#head
  }

  get performing(): number {
    return this.#performing.size
  }

  /** How many slots are held by functions that ignored their signal. */
  get stuck(): number {
    let stuck = 0
    for (const performance of this.#performing) if (performance.reported) stuck += 1
    return stuck
  }

  /** How many have ended and are not handed in. */
  get ended(): number {
    return this.#ended.length + this.#givenBack.length
  }

  get hasEnded(): boolean {
    return this.ended > 0
  }

  /** Whether something is here whose end is not known yet. */
  get isGoingOn(): boolean {
    return this.atHand > 0 || this.stuck < this.#performing.size
  }

  /** What this process can perform from now on. */
  know(executableJobs: ReadonlyMap<string, ExecutableJob>): void {
    this.#executableJobs = executableJobs
  }

  add(claims: readonly Claim[]): void {
    this.#atHand = this.atHand === 0 ? [...claims] : [...this.#atHand.slice(this.#head), ...claims]
    this.#head = 0
  }

  /** Whether an attempt is here: at hand, going on, or ended and not handed in. */
  holds(run: { readonly id: string; readonly attempt: number }): boolean {
    const isIt = (claim: Claim): boolean => claim.run === run.id && claim.attempt === run.attempt
    if (this.#atHand.slice(this.#head).some(isIt)) return true
    if ([...this.#givenBack, ...this.#ended].some(({ claim }) => isIt(claim))) return true
    for (const performance of this.#performing) if (isIt(performance.claim)) return true
    return false
  }

  /** Begins what is at hand while there are slots. `fresh` says that the event loop has had its turn since. */
  begin(fresh: boolean): void {
    if (fresh) this.#begun = 0
    if (this.#isBeginning) return
    this.#isBeginning = true
    while (this.#canBegin && this.#begun < beginsInOneGo) {
      this.#begun += 1
      this.#perform(this.#atHand[this.#head++] as Claim)
    }
    this.#isBeginning = false
    // The rest begins in the next go, even if nothing of what was begun ends soon.
    if (this.#canBegin) this.#options.onChange()
  }

  get #canBegin(): boolean {
    return this.atHand > 0 && this.#performing.size < this.#options.concurrency
  }

  /** Takes out what ended, to be handed in. */
  takeEnded(): readonly Ended[] {
    const ended = this.#givenBack.length === 0 ? this.#ended : [...this.#givenBack, ...this.#ended]
    this.#givenBack = []
    this.#ended = []
    return ended
  }

  /** Puts back what could not be handed in. */
  giveBack(ended: readonly Ended[]): void {
    this.#givenBack = [...ended, ...this.#givenBack]
  }

  /** Ends what was not begun, so that others can take it. */
  handBackWaiting(): void {
    for (const claim of this.#takeWaiting()) this.#endUnbegun(claim, { kind: 'released' })
  }

  /** Hands back what was not begun and stops the rest: for a worker that has lost its lease. */
  forsake(): void {
    this.handBackWaiting()
    this.stopAll('expired')
  }

  stopAll(reason: StopReason): void {
    for (const performance of this.#performing) performance.stop(reason)
  }

  /** Ends what was stopped without waiting for its function any longer. */
  abandonAll(): void {
    for (const performance of this.#performing) performance.abandon()
  }

  /** Does what the store asks for about one claim. */
  heed(notice: HolderNotice): void {
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
    const waiting = this.#atHand.slice(this.#head)
    this.#atHand = []
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

  /** A result that was not handed in yet still becomes a failure; after that, or for one that was stopped, it is only told. */
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
    if (stuck >= concurrency) events.emit('worker:not-ready', { stuck })
  }
}

/** Which attempt of which run, for events. */
export function noticeOf(claim: Claim): RunNotice {
  return {
    run: claim.run,
    job: claim.job,
    trigger: claim.trigger,
    attempt: claim.attempt,
    dueAt: claim.dueAt,
  }
}

/** What an attempt came to, for events. */
export function endOf({ claim, finished }: Ended): EngineEvents['run:ended'] {
  const { outcome, startedAt, endedAt } = finished
  // Written out: every run is told of, and a spread would cost it more than all the rest of telling.
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

/** An error that nobody caught, for those who hear of it when it changes nothing any more. */
export function lateError({ error }: Failed): RotaError {
  const message = `an error that nobody caught came after the end of the attempt was decided: ${error.message}`
  return new RotaError('HANDLER_FAILED', message)
}

const cancelledUnbegun: AttemptResult = {
  kind: 'cancelled',
  error: { code: 'CANCELLED', message: 'cancelled before it began' },
}
