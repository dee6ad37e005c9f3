import { boundText, maxLogLineBytes, maxLogLines } from '../../kernel/definition/bounds.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Job } from '../../kernel/job/job.js'
import type { AttemptResult } from '../../kernel/run/outcome.js'
import type { LogLine, StoredError } from '../../kernel/run/run.js'
import { resultOf, storedErrorOf } from '../../kernel/job/result.js'
import type { Claim } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type { ErrorTracer, Traced } from './error-tracer.js'

/** What a handler is given: which run this is, and how it learns that it has to stop. */
export interface RunContext<Payload = unknown> {
  /** The same for every attempt: an idempotency key. */
  readonly id: RunId
  readonly job: string
  readonly trigger: string | undefined
  /** Counts up with every claim: a fencing token. */
  readonly attempt: number
  /** When it was due; never changes. */
  readonly dueAt: Date
  /** The slice of data it is about, fixed from the due instant. */
  readonly partition: string | undefined
  readonly payload: Payload
  /** Aborts at the timeout, on a cancel, and when the worker stops. */
  readonly signal: AbortSignal
  /** Writes a line that is kept with the run. */
  log(text: string, level?: LogLine['level']): void
}

/** Does the work of one attempt. What it returns is stored as the run's result. */
export type Handler<Payload = unknown> = (run: RunContext<Payload>) => unknown

/** A job with the function that performs it in this process. */
export interface ExecutableJob {
  readonly job: Job
  readonly handler: Handler
}

/** Thrown by a handler that knows that trying again cannot help. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError'
}

/** Why an attempt was told to stop; the first reason counts. */
export type StopReason = 'timed-out' | 'cancelled' | 'terminated' | 'released' | 'expired' | 'failed'

/** One attempt while it is going on. */
export class Performance implements Traced {
  readonly claim: Claim
  readonly job: Job
  readonly startedAt: Instant
  readonly #deps: PerformDeps
  #controller: AbortController | undefined
  #stopped: StopReason | undefined
  /** The error that nobody caught, where it was stopped for one. */
  #failure: Failed | undefined
  #reported = false
  #isSettled = false
  #lines = 0
  #cancelTimer: (() => void) | undefined

  constructor(claim: Claim, job: Job, deps: PerformDeps) {
    this.claim = claim
    this.job = job
    this.#deps = deps
    this.startedAt = deps.now()
  }

  /** Why it was told to stop, if it was. */
  get stopped(): StopReason | undefined {
    return this.#stopped
  }

  /** Whether its end was told already although its function has not returned. */
  get reported(): boolean {
    return this.#reported
  }

  /** Runs the handler. Its end is reported once; `settled` is called when the function has returned. */
  run(handler: Handler): void {
    if (this.job.timeoutMs !== undefined) {
      this.#cancelTimer = this.#deps.clock.timer(this.job.timeoutMs, () => this.stop('timed-out'))
    }
    let returned: unknown
    try {
      returned = this.#deps.tracer.run(this, handler, new Context(this))
      if (isThenable(returned)) {
        returned.then(
          (value) => this.#settle(done(value)),
          (error: unknown) => this.#settle(failed(error)),
        )
        return
      }
    } catch (error) {
      this.#settle(failed(error))
      return
    }
    this.#settle(done(returned))
  }

  /** Aborts the signal. A function that ignores it is reported after the patience is over; its slot stays taken. */
  stop(reason: StopReason): void {
    if (this.#stopped !== undefined) return
    this.#stopped = reason
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#controller?.abort(this.#stopError(reason))
    if (this.#reported || reason === 'released') return
    this.#cancelTimer = this.#deps.clock.timer(patienceMs, () => {
      this.#report(this.#stopResult(reason))
      this.#deps.stuck(this)
    })
  }

  /** Reports what it was stopped for without waiting for the function any longer. */
  abandon(): void {
    if (this.#stopped !== undefined) this.#report(this.#stopResult(this.#stopped))
  }

  get title(): string {
    return `run ${this.claim.run} of ${this.claim.job}`
  }

  /** Stops it for an error of its code that nobody caught, unless it was stopped before or has ended. */
  fail(error: unknown): void {
    const failure = failed(error)
    this.log(`an error that nobody caught: ${failure.error.message}`, 'error')
    if (this.#stopped !== undefined || this.#reported) {
      this.#deps.failedLate(this, failure)
      return
    }
    this.#failure = failure
    this.stop('failed')
  }

  /** Made when it is first asked for: most handlers never do. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#stopped !== undefined) this.#controller.abort(this.#stopError(this.#stopped))
    }
    return this.#controller.signal
  }

  /** Passes on a line; those that no store keeps are not collected either. */
  log(text: unknown, level: unknown): void {
    if (this.#lines > maxLogLines) return
    this.#lines += 1
    const line = boundText(typeof text === 'string' ? text : String(text), maxLogLineBytes)
    this.#deps.log(this, levels.find((known) => known === level) ?? 'info', line)
  }

  #stopError(reason: StopReason): RotaError {
    return new RotaError(codeOf(reason), `run ${this.claim.run} was stopped: ${reason}`)
  }

  #stopResult(reason: StopReason): AttemptResult | undefined {
    return reason === 'failed' ? this.#failure : stopResult(reason, this.job)
  }

  #settle(result: AttemptResult): void {
    if (this.#isSettled) return
    this.#isSettled = true
    // After it was told to stop, returning normally may mean that it broke off: what stopped it decides.
    this.#report(this.#stopped === undefined ? result : this.#stopResult(this.#stopped))
    this.#deps.settled(this)
  }

  #report(result: AttemptResult | undefined): void {
    if (this.#reported) return
    this.#reported = true
    this.#cancelTimer?.()
    if (result !== undefined) this.#deps.ended(this, result)
  }
}

/** What an attempt needs of its worker. */
export interface PerformDeps {
  readonly clock: Clock
  readonly now: () => Instant
  readonly tracer: ErrorTracer
  log(performance: Performance, level: LogLine['level'], text: string): void
  /** The attempt's end is known. */
  ended(performance: Performance, result: AttemptResult): void
  /** An error that nobody caught came after its end was reported, or after it was stopped. */
  failedLate(performance: Performance, failure: Failed): void
  /** The function went on after it was stopped. */
  stuck(performance: Performance): void
  /** The function has returned. */
  settled(performance: Performance): void
}

/** What an attempt comes to by an error. */
export type Failed = Extract<AttemptResult, { kind: 'failed' }>

/** How long a function may go on after its signal before its attempt is ended without it. */
const patienceMs = 10_000

const levels: readonly LogLine['level'][] = ['debug', 'info', 'warn', 'error']

/** A class, since a getter in a literal costs every run most of a microsecond. */
class Context implements RunContext {
  readonly id: RunId
  readonly job: string
  readonly trigger: string | undefined
  readonly attempt: number
  readonly dueAt: Date
  readonly partition: string | undefined
  readonly payload: unknown
  readonly log: RunContext['log']
  readonly #performance: Performance

  constructor(performance: Performance) {
    const { claim } = performance
    this.id = claim.run
    this.job = claim.job
    this.trigger = claim.trigger
    this.attempt = claim.attempt
    this.dueAt = new Date(claim.dueAt)
    this.partition = claim.partition
    this.payload = claim.payload
    this.log = (text, level) => performance.log(text, level)
    this.#performance = performance
  }

  get signal(): AbortSignal {
    return this.#performance.signal
  }
}

function done(value: unknown): AttemptResult {
  return { kind: 'done', result: resultOf(value) }
}

/** Anything can be thrown, also what cannot even be looked at; the run has to end all the same. */
function failed(error: unknown): Failed {
  try {
    // By name: a handler may have its own copy of this package, and with it another class.
    const permanent = error instanceof Error && error.name === 'PermanentError'
    return { kind: 'failed', error: storedErrorOf(error, 'HANDLER_FAILED'), permanent }
  } catch {
    const message = 'the handler threw something that cannot be shown'
    return { kind: 'failed', error: errorOf('HANDLER_FAILED', message), permanent: false }
  }
}

/** What an attempt that was stopped comes to; nothing where its claim is not its own any more. */
function stopResult(reason: Exclude<StopReason, 'failed'>, job: Job): AttemptResult | undefined {
  switch (reason) {
    case 'timed-out':
      return { kind: 'timed-out', error: errorOf('TIMED_OUT', `took longer than ${job.timeoutMs} ms`) }
    case 'cancelled':
      return { kind: 'cancelled', error: errorOf('CANCELLED', 'cancelled on request') }
    case 'released':
    // Its claim may be another's by now; what is reported shows that this process did not die of the run.
    case 'expired':
      return { kind: 'released' }
    case 'terminated':
      return undefined
  }
}

function errorOf(code: string, message: string): StoredError {
  return { code, message }
}

function codeOf(reason: StopReason): 'TIMED_OUT' | 'CANCELLED' | 'LOST' | 'HANDLER_FAILED' {
  if (reason === 'timed-out') return 'TIMED_OUT'
  if (reason === 'failed') return 'HANDLER_FAILED'
  return reason === 'expired' ? 'LOST' : 'CANCELLED'
}

function isThenable(value: unknown): value is Promise<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  )
}
