/**
 * The worker takes turns with the store. In one transaction it submits the results of finished attempts and claims as
 * many runs as it has room for. A claim is waiting (not begun), performing, or ended (decided, not submitted yet). If
 * the process is killed, the lease expires and upkeep decides about each claim.
 */
import { endEffectFor } from '../../kernel/identity/occurrence.js'
import type { Job } from '../../kernel/job/job.js'
import type { Instant } from '../../time/instant.js'
import type { Claim, TurnAnswer, ClaimRequest } from '../../store/port.js'
import { Attempts, endOf, noticeOf, type Ended } from './attempts.js'
import { Changes } from './changes.js'
import { claimsOf } from './claims-of.js'
import { HintPace } from './hint-pace.js'
import { LogBuffer } from './log-buffer.js'
import { backOffMs, isFatal } from '../loop.js'
import { Prefetch } from './prefetch.js'
import { SmallShare } from './small-share.js'
import type { WorkerOptions } from './worker-options.js'

/** After its lease has expired, a worker resubmits results at least this often, and for at most this long. */
const resubmitPauseMs = 1000
const resubmitLimitMs = 3_600_000

/** Performs runs, one turn with the store after the other, until it is drained or its lease expires. */
export class Worker {
  readonly #options: WorkerOptions
  readonly #attempts: Attempts
  readonly #lines: LogBuffer
  #jobs: readonly string[] = []
  /** The jobs whose runs have an end effect, whatever their origin is. */
  #withEffect: ReadonlySet<string> = new Set()
  #jobsRevision = -1
  #turning = false
  #mayHoldUnknown = false
  #wanted = false
  /** When the next delayed run becomes due, according to the last turn. */
  #nextRunAt: Instant | undefined
  #deferred = false
  #failures = 0
  /** An expired worker only resubmits results. */
  #mode: 'open' | 'draining' | 'expired' | 'closed' = 'open'
  readonly #prefetch: Prefetch
  readonly #share: SmallShare
  /** How many runs it may still claim. */
  #claimsLeft: number
  /** The error that ended its pass early. */
  #failure: { readonly error: unknown } | undefined
  /** How many results are being submitted. */
  #submitting = 0
  #cancelAlarm: (() => void) | undefined
  #pause = new AbortController()
  readonly #pace: HintPace
  readonly #changes = new Changes()

  constructor(options: WorkerOptions) {
    this.#options = options
    const { clock, now, events, tracer, concurrency } = options
    this.#prefetch = new Prefetch(clock)
    this.#share = new SmallShare(clock, () => this.wakeForRuns())
    this.#pace = new HintPace(clock, () => this.wakeForRuns())
    this.#claimsLeft = options.pass?.limit ?? Infinity
    this.#lines = new LogBuffer(options.store, clock, (error) =>
      events.emit('trouble', { where: 'log', error, retryInMs: 0 }),
    )
    this.#attempts = new Attempts({
      clock,
      now,
      events,
      tracer,
      concurrency,
      log: (claim, level, text) => {
        this.#lines.add({ run: claim.run, attempt: claim.attempt, at: now(), level, text })
        if (events.has('run:log')) events.emit('run:log', { run: claim.run, job: claim.job, level, text })
      },
      onChange: () => this.#defer(),
    })
  }

  /** How many claims it holds: waiting, performing, or ended and not stored. */
  get holding(): number {
    const { waiting, performing, ended } = this.#attempts
    return waiting + performing + ended + this.#submitting
  }

  /** Whether it can take work: not while every slot is taken by a handler that ignored its signal. */
  get isReady(): boolean {
    return this.#mode === 'open' && this.#attempts.stuck < this.#options.concurrency()
  }

  /** Whether it has stopped for good. */
  get isClosed(): boolean {
    return this.#mode === 'closed'
  }

  /** Takes a turn at once, or right after the current one. */
  wake(): void {
    this.#wanted = true
    if (!this.#turning && !this.isClosed) this.#options.tracer.leave(() => void this.#takeTurns())
  }

  /** The next turn reads again which jobs it can execute. */
  rereadJobs(): void {
    this.#jobsRevision = -1
  }

  /** Takes a turn if there is room for runs that may be claimable; otherwise the next end takes one. */
  wakeForRuns(): void {
    if (this.#turning || this.#claimRequest() !== undefined) this.wake()
  }

  /** The same for runs of other processes, at a pace that leaves these their runs. */
  hinted(): void {
    this.#pace.hint()
  }

  /**
   * Claims what it can now, within the limit of its pass, and performs it. Resolves when the ends are stored, or when
   * `over` aborts. May be called again until the limit is reached. If the store fails while nothing is being performed,
   * the error is thrown.
   */
  async pass(over: AbortSignal): Promise<void> {
    await this.#readJobs(0)
    this.wake()
    await this.#until(() => this.#isQuiet && !this.#attempts.isGoingOn, over)
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Claims nothing more and releases waiting claims; resolves when nothing is held, or when the grace period ends. */
  async drain(graceOver: AbortSignal): Promise<void> {
    if (this.#isExpired) return
    this.#mode = 'draining'
    this.#attempts.releaseWaiting()
    this.#endPause()
    await this.#until(() => this.#isIdle, graceOver)
  }

  /** Aborts all attempts; resolves when they have ended, or when the time is over. */
  async abort(patienceOver: AbortSignal): Promise<void> {
    if (this.#isExpired) return
    this.#attempts.stopAll('released')
    await this.#until(() => this.#isIdle, patienceOver)
  }

  /** Releases what has not ended and closes; waits until the store has the results, or until the time is over. */
  async submitAll(over: AbortSignal): Promise<void> {
    if (this.isClosed) return
    this.#attempts.abandonAll()
    if (this.#attempts.hasEnded) this.wake()
    this.#endPause()
    await this.#until(() => this.#isQuiet, over)
    this.#close()
  }

  /**
   * Stops everything because the lease is about to expire, or because the store has taken it away. Finished results are
   * resubmitted, and the other claims released, until the store answers. It accepts those that nobody else has claimed,
   * and learns from the others that this process is alive.
   */
  expire(): void {
    if (this.#isExpired) return
    this.#mode = 'expired'
    this.#attempts.expire()
    this.#failures = 0
    this.#cancelAlarm?.()
    this.#cancelAlarm = this.#options.clock.timer(resubmitLimitMs, () => this.#close())
    this.#endPause()
    this.#changes.tell()
    if (this.#attempts.hasEnded) this.wake()
    else if (!this.#turning) this.#closeIfOver()
  }

  /** After its lease has expired: resubmits at once; resolves when the store has answered, or when the time is over. */
  async resubmit(over: AbortSignal): Promise<void> {
    if (this.#mode !== 'expired' || !this.#attempts.hasEnded) return
    this.wake()
    this.#endPause()
    await this.#until(() => this.#isQuiet, over)
  }

  /** Stops everything and tells the store nothing more. */
  abandon(): void {
    if (this.isClosed) return
    this.#close()
    this.#attempts.expire()
  }

  #close(): void {
    this.#mode = 'closed'
    this.#endPause()
    this.#pace.cover()
    this.#share.close()
    this.#cancelAlarm?.()
    this.#changes.tell()
  }

  /** Ends the pause after a store failure. */
  #endPause(): void {
    this.#pause.abort()
    this.#pause = new AbortController()
  }

  async #takeTurns(): Promise<void> {
    this.#turning = true
    const { tracer } = this.#options
    // While errors are traced, a result waits for the next event loop cycle: an uncaught error may still follow it.
    while (this.#wanted && !this.isClosed && !(this.#deferred && tracer.isOn)) {
      this.#wanted = false
      if (!this.#isExpired || this.#attempts.hasEnded) await this.#turn()
      this.#submitting = 0
      if (!this.#isExpired && !this.#wanted) this.#setAlarm()
    }
    this.#turning = false
    if (this.#isExpired) this.#closeIfOver()
    this.#changes.tell()
  }

  #closeIfOver(): void {
    if (!this.#attempts.hasEnded && !this.#attempts.isGoingOn) this.#close()
  }

  async #turn(): Promise<void> {
    const { store, id, now, pass, concurrency } = this.#options
    this.#pace.cover()
    this.#attempts.releaseStalled()
    const ended = this.#attempts.takeEnded()
    this.#submitting = ended.length
    this.#prefetch.measure(ended)
    this.#lines.flush()
    const claimRequest = this.#claimRequest()
    let answer: TurnAnswer
    try {
      const finished = ended.map((one) => one.finished)
      answer = await store.turn({ worker: id, now: now(), finished, claimRequest })
    } catch (error) {
      this.#attempts.putBack(ended)
      this.#mayHoldUnknown = true
      await this.#recover(error)
      return
    }
    this.#prefetch.turned()
    const isQuick = !this.#attempts.isGoingOn && this.#prefetch.isBusyWithTurns
    if (pass === undefined && claimRequest !== undefined)
      this.#share.turned({ claims: answer.claims, concurrency: concurrency(), isQuick })
    this.#pace.looked(answer.claims.length > 0)
    if (answer.failed?.part === 'finished') this.#attempts.putBack(ended)
    else this.#tell(ended, answer)
    if (answer.failed?.part === 'claims') this.#mayHoldUnknown = true
    await this.#take(answer)
  }

  /** Wakes when the next delayed run is due. */
  #setAlarm(): void {
    const { clock, now, pollMs } = this.#options
    this.#cancelAlarm?.()
    if (this.#mode !== 'open') return
    // By the earlier of both clocks: while the wall clock is behind or in doubt, waiting by one of them would spin.
    const dueInMs = this.#nextRunAt === undefined ? Infinity : this.#nextRunAt - Math.min(now(), clock.now())
    const inMs = Math.min(pollMs, dueInMs, this.#attempts.stallsInMs)
    this.#cancelAlarm = clock.timer(Math.max(1, inMs), () => this.wake(), { isPoll: inMs === pollMs })
  }

  get #isExpired(): boolean {
    return this.#mode === 'expired' || this.#mode === 'closed'
  }

  #claimRequest(): ClaimRequest | undefined {
    if (this.#mode !== 'open' || this.#share.isResting) return undefined
    const { waiting, performing } = this.#attempts
    const slots = Math.min(Math.max(0, this.#options.concurrency() - performing - waiting), this.#claimsLeft)
    const ahead = this.#prefetch.beside(waiting, this.#claimsLeft - slots)
    return slots + ahead.prefetch > 0 ? { jobs: this.#jobs, slots, ...ahead } : undefined
  }

  /** Takes claims and notices first: they come only once, whatever fails afterwards. */
  async #take(answer: TurnAnswer): Promise<void> {
    if (answer.expired) {
      this.expire()
      this.#options.onExpired()
      return
    }
    this.#nextRunAt = answer.nextRunAt
    if (answer.claims.length > 0) this.#add(answer.claims)
    for (const notice of answer.notices) this.#attempts.obey(notice)
    // Awaited even if there is nothing to read: whoever recorded these runs in the same commit tells of it first.
    const trouble = answer.failed ?? (this.#isExpired ? undefined : await this.#lookBehind(answer))
    if (this.#mode !== 'open') this.#attempts.releaseWaiting()
    this.#attempts.begin(false)
    if (trouble !== undefined) return await this.#recover(trouble.error)
    this.#failures = 0
    if (answer.more && this.#claimRequest() !== undefined) this.#wanted = true
  }

  #add(claims: readonly Claim[]): void {
    this.#claimsLeft -= claims.length
    this.#prefetch.claimed(claims)
    this.#attempts.add(claims)
    const { pass } = this.#options
    if (pass !== undefined) claims.forEach(pass.onClaim)
  }

  /** Reads jobs that changed, and claims whose answer was lost with a failed turn. */
  async #lookBehind(answer: TurnAnswer): Promise<{ error: unknown } | undefined> {
    try {
      if (this.#mayHoldUnknown) await this.#findLostAnswers()
      if (answer.jobsRevision !== this.#jobsRevision) await this.#readJobs(answer.jobsRevision)
      return undefined
    } catch (error) {
      this.rereadJobs()
      return { error }
    }
  }

  /** A pass keeps the jobs that it began with. */
  async #readJobs(revision: number): Promise<void> {
    if (this.#options.pass !== undefined && this.#jobsRevision !== -1) return
    // Before they are read: a call of `rereadJobs` meanwhile counts.
    this.#jobsRevision = revision
    const executableJobs = await this.#options.executableJobs()
    this.#attempts.setJobs(executableJobs)
    this.#jobs = [...executableJobs.keys()]
    const own = [...executableJobs.values()].map(({ job }) => job)
    // A success that keeps a promise makes nothing due.
    const hasEffect = ({ asset }: Job): boolean => 'endEffect' in endEffectFor({ asset })
    this.#withEffect = new Set(own.filter(hasEffect).map(({ name }) => name))
    this.#wanted = true
  }

  /** A turn may have been committed although it failed here; then this worker holds claims that it does not know. */
  async #findLostAnswers(): Promise<void> {
    const claims = await claimsOf(this.#options.store, this.#options.id)
    this.#add(claims.filter(({ run, attempt }) => !this.#attempts.holds({ id: run, attempt })))
    this.#mayHoldUnknown = false
  }

  /** Tries again after a pause; results wait meanwhile. */
  async #recover(error: unknown): Promise<void> {
    const { clock, events, id, pass } = this.#options
    if (this.isClosed) return
    if (pass !== undefined && (isFatal(error) || !this.#attempts.isGoingOn)) {
      this.#failure = { error }
      this.abandon()
      return
    }
    if (isFatal(error)) {
      this.abandon()
      events.emit('fatal', { where: 'worker', error })
      return
    }
    this.#failures += 1
    const backOff = backOffMs(this.#failures, id)
    const retryInMs = this.#isExpired ? Math.min(backOff, resubmitPauseMs) : backOff
    events.emit('trouble', { where: 'worker', error, retryInMs })
    await clock.sleep(retryInMs, this.#pause.signal)
    this.#wanted = true
  }

  #tell(ended: readonly Ended[], answer: TurnAnswer): void {
    const { events, pass } = this.#options
    const mayBeDue = ({ claim: { hasEndEffect, trigger, job } }: Ended): boolean =>
      hasEndEffect === true && (trigger !== undefined || this.#withEffect.has(job))
    if (ended.some(mayBeDue)) this.#options.onDue()
    const heard = events.has('run:ended')
    for (let i = 0; i < ended.length; i++) {
      const { claim, finished } = ended[i] as Ended
      const isStored = answer.finished[i] !== 'stale'
      pass?.onEnd({ claim, finished }, isStored)
      if (isStored) {
        if (heard) events.emit('run:ended', endOf({ claim, finished }))
      } else if (finished.outcome.end !== 'released') {
        events.emit('run:refused', noticeOf(claim))
      }
    }
  }

  /** Results of one event loop cycle are submitted together. */
  #defer(): void {
    if (this.#deferred) return
    this.#deferred = true
    this.#options.clock.defer(() => {
      this.#deferred = false
      this.#attempts.begin(true)
      this.wake()
    })
  }

  /** Whether nothing is left to wait for, except results that an expired worker resubmits. */
  get #isIdle(): boolean {
    return this.#isExpired || (this.#attempts.performing === 0 && this.#isQuiet)
  }

  get #isQuiet(): boolean {
    return !this.#turning && !this.#deferred && !this.#attempts.hasEnded
  }

  async #until(isTrue: () => boolean, over: AbortSignal): Promise<void> {
    await this.#changes.until(() => isTrue() || this.isClosed, over)
  }
}
