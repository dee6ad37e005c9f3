import { boundText, maxLogLineBytes, maxLogLines } from '../../kernel/definition/bounds.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Job } from '../../kernel/job/job.js'
import type { AttemptResult } from '../../kernel/run/outcome.js'
import type { LogLine, StoredError } from '../../kernel/run/run.js'
import { resultOf, storedErrorOf } from '../../kernel/job/result.js'
import { retryAdviceOf } from '../../kernel/job/thrown.js'
import type { Claim } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type { ErrorTracer, Traced } from './error-tracer.js'

/** What a handler receives: the run of this attempt, and the signal that tells it to stop. */
export interface RunContext<Payload = unknown> {
  /** The same for every attempt: an idempotency key. */
  readonly id: RunId
  readonly job: string
  readonly trigger: string | undefined
  /** Counts up with every claim: a fencing token. */
  readonly attempt: number
  /** Whether the run fails for good if this attempt fails. */
  readonly isLastAttempt: boolean
  /** When it was due; never changes. */
  readonly dueAt: Date
  /** The slice of data that the run is about, computed from the due instant. */
  readonly partition: string | undefined
  readonly payload: Payload
  /** Aborts at the timeout, on a cancel, and when the worker stops. */
  readonly signal: AbortSignal
  /** Writes a line to the log of the run. */
  log(text: string, level?: LogLine['level']): void
}

/** Does the work of one attempt. Its return value is stored as the result of the run. */
export type Handler<Payload = unknown> = (run: RunContext<Payload>) => unknown

/** A job with the function that executes it in this process. */
export interface ExecutableJob {
  readonly job: Job
  readonly handler: Handler
}

/** Why an attempt was stopped; the first reason counts. */
export type StopReason = 'timed-out' | 'cancelled' | 'terminated' | 'released' | 'expired' | 'failed'

/** One attempt while it is performed. */
export class Performance implements Traced {
  readonly claim: Claim
  readonly job: Job
  readonly startedAt: Instant
  readonly #deps: PerformDeps
  #controller: AbortController | undefined
  #stopped: StopReason | undefined
  /** The uncaught error that stopped it, if one did. */
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

  /** Why it was stopped, if it was. */
  get stopped(): StopReason | undefined {
    return this.#stopped
  }

  /** Whether its end was reported although its handler has not returned. */
  get reported(): boolean {
    return this.#reported
  }

  /** Runs the handler. The end is reported once; `settled` is called when the handler has returned. */
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
          (error: unknown) => this.#settle(thrown(error)),
        )
        return
      }
    } catch (error) {
      this.#settle(thrown(error))
      return
    }
    this.#settle(done(returned))
  }

  /** Aborts the signal. If the handler ignores it, the attempt ends after a while and its slot stays taken. */
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

  /** Reports the end of a stopped attempt without waiting for its handler any longer. */
  abandon(): void {
    if (this.#stopped !== undefined) this.#report(this.#stopResult(this.#stopped))
  }

  get title(): string {
    return `run ${this.claim.run} of ${this.claim.job}`
  }

  /** Stops it because of an uncaught error of its handler, unless it was stopped before or has ended. */
  fail(error: unknown): void {
    const failure = failed(error)
    this.log(`uncaught error: ${failure.error.message}`, 'error')
    if (this.#stopped !== undefined || this.#reported) {
      this.#deps.failedLate(this, failure)
      return
    }
    this.#failure = failure
    this.stop('failed')
  }

  /** Created on first use: most handlers never use it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#stopped !== undefined) this.#controller.abort(this.#stopError(this.#stopped))
    }
    return this.#controller.signal
  }

  /** Logs a line, up to the number of lines that a store keeps. */
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
    // A handler that returns after a stop may have done only a part: the reason for the stop counts.
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

/** What an attempt needs from its worker. */
export interface PerformDeps {
  readonly clock: Clock
  readonly now: () => Instant
  readonly tracer: ErrorTracer
  log(performance: Performance, level: LogLine['level'], text: string): void
  /** The attempt's end is known. */
  ended(performance: Performance, result: AttemptResult): void
  /** An uncaught error came after its end was reported, or after it was stopped. */
  failedLate(performance: Performance, failure: Failed): void
  /** The handler continued after the stop. */
  stuck(performance: Performance): void
  /** The handler has returned. */
  settled(performance: Performance): void
}

/** The result of an attempt that failed. */
export type Failed = Extract<AttemptResult, { kind: 'failed' }>

/** How long a handler may continue after its signal before its attempt ends without it. */
const patienceMs = 10_000

const levels: readonly LogLine['level'][] = ['debug', 'info', 'warn', 'error']

/** A class, because a getter in an object literal costs each run most of a microsecond. */
class Context implements RunContext {
  readonly id: RunId
  readonly job: string
  readonly trigger: string | undefined
  readonly attempt: number
  readonly isLastAttempt: boolean
  readonly dueAt: Date
  readonly partition: string | undefined
  readonly payload: unknown
  readonly log: RunContext['log']
  readonly #performance: Performance

  constructor(performance: Performance) {
    const { claim, job } = performance
    this.id = claim.run
    this.job = claim.job
    this.trigger = claim.trigger
    this.attempt = claim.attempt
    this.isLastAttempt = claim.failures + 1 >= job.retry.attempts
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

/** A handler can throw anything, even a value that cannot be inspected; the run must end nevertheless. */
function failed(error: unknown): Failed {
  try {
    return { kind: 'failed', error: storedErrorOf(error, 'HANDLER_FAILED'), advice: retryAdviceOf(error) }
  } catch {
    const message = 'the handler threw something that cannot be shown'
    return { kind: 'failed', error: errorOf('HANDLER_FAILED', message), advice: {} }
  }
}

/** The result of a handler that threw. */
function thrown(error: unknown): AttemptResult {
  const failure = failed(error)
  const { snoozeMs } = failure.advice
  if (snoozeMs === undefined) return failure
  // An error without a message is stored with its name as the message.
  const reason = failure.error.message === 'Snooze' ? '' : failure.error.message
  return { kind: 'snoozed', forMs: snoozeMs, reason: boundText(reason, maxReasonBytes) }
}

/** The longest reason of a snoozed run. */
const maxReasonBytes = 500

/** The result of a stopped attempt; undefined if its claim is no longer its own. */
function stopResult(reason: Exclude<StopReason, 'failed'>, job: Job): AttemptResult | undefined {
  switch (reason) {
    case 'timed-out':
      return { kind: 'timed-out', error: errorOf('TIMED_OUT', `took longer than ${job.timeoutMs} ms`) }
    case 'cancelled':
      return { kind: 'cancelled', error: errorOf('CANCELLED', 'cancelled on request') }
    case 'released':
    // Another worker may have the claim; the report shows that the run did not crash this process.
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
