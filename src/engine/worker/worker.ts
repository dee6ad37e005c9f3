/**
 * The worker takes turns with the store: in one transaction it hands in what ended and claims what it has room for.
 * What it holds is at hand (claimed, not begun), performing, or ended (decided, not handed in yet). A kill loses none
 * of it: the lease runs out, and upkeep decides about each claim.
 */
import { endEffectFor } from '../../kernel/identity/occurrence.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type { Claim, Store, TurnAnswer, ClaimRequest } from '../../store/port.js'
import { Attempts, endOf, noticeOf, type Ended } from './attempts.js'
import { Changes } from './changes.js'
import { claimsOf } from './claims-of.js'
import type { Events } from '../events.js'
import { LogBuffer } from './log-buffer.js'
import { backOffMs, isFatal } from '../loop.js'
import type { ErrorTracer } from './error-tracer.js'
import type { ExecutableJob } from './perform.js'
import { Prefetch } from './prefetch.js'

/** What a worker needs. */
export interface WorkerOptions {
  readonly id: string
  readonly store: Store
  readonly clock: Clock
  readonly now: () => Instant
  readonly events: Events
  readonly tracer: ErrorTracer
  readonly concurrency: number
  /** What this process can perform; read again when the store says that jobs changed. */
  readonly executableJobs: () => Promise<ReadonlyMap<string, ExecutableJob>>
  /** How long it waits at most before it looks for work unasked: the slow poll behind all hints. */
  readonly pollMs: number
  /** Runs have ended whose end may make a trigger due. */
  readonly onDue: () => void
  /** The store has taken the lease away. */
  readonly onExpired: () => void
  /** Bounds what it does to one pass; see `pass()`. */
  readonly pass?: PassOptions | undefined
}

/** What bounds a worker that performs a few runs and ends. */
export interface PassOptions {
  /** How many runs it claims in all. */
  readonly limit: number
  readonly onClaim: (claim: Claim) => void
  /** The store has the end of an attempt, or has refused it because the claim is not current any more. */
  readonly onEnd: (ended: Ended, isStored: boolean) => void
}

/** How long it waits at most between two offers of what it held when it gave up, and how long it goes on with them. */
const offerPauseMs = 1000
const offerLimitMs = 3_600_000

/** Performs runs: one turn with the store after the other, until it is drained or its lease is over. */
export class Worker {
  readonly #options: WorkerOptions
  readonly #attempts: Attempts
  readonly #lines: LogBuffer
  #jobs: readonly string[] = []
  /** The jobs whose runs have an end effect, whoever makes the runs. */
  #withEffect: ReadonlySet<string> = new Set()
  #jobsRevision = -1
  #turning = false
  #mayHoldUnknown = false
  #wanted = false
  /** When the next delayed run becomes due, as the last turn was told. */
  #nextRunAt: Instant | undefined
  #deferred = false
  #failures = 0
  /** Expired, it only offers what had ended. */
  #mode: 'open' | 'draining' | 'expired' | 'closed' = 'open'
  readonly #prefetch: Prefetch
  /** How many runs it may still claim. */
  #claimsLeft: number
  /** What ended its pass early. */
  #failure: { readonly error: unknown } | undefined
  /** How many results are on their way to the store. */
  #handingIn = 0
  #cancelAlarm: (() => void) | undefined
  #pause = new AbortController()
  readonly #changes = new Changes()

  constructor(options: WorkerOptions) {
    this.#options = options
    const { clock, now, events, tracer, concurrency } = options
    this.#prefetch = new Prefetch(clock)
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

  /** What it holds: not begun, going on, or ended and not stored. */
  get holding(): number {
    const { atHand, performing, ended } = this.#attempts
    return atHand + performing + ended + this.#handingIn
  }

  /** Whether it can take work: not while every slot is held by something that ignored its signal. */
  get isReady(): boolean {
    return this.#mode === 'open' && this.#attempts.stuck < this.#options.concurrency
  }

  /** Whether nothing of it goes on any more. */
  get isClosed(): boolean {
    return this.#mode === 'closed'
  }

  /** Takes a turn at once, or right after the one under way. */
  wake(): void {
    this.#wanted = true
    if (!this.#turning && !this.isClosed) this.#options.tracer.leave(() => void this.#takeTurns())
  }

  /** Runs may be claimable: takes a turn if there is room for them; where there is none, the end that makes it takes one. */
  wakeForRuns(): void {
    if (this.#turning || this.#claimRequest() !== undefined) this.wake()
  }

  /**
   * Performs what can be claimed now, within the limit of its pass; resolves when the store has the end of it, or when
   * `over` aborts. May be called again while the limit is not reached. A pass does not wait for a store in trouble
   * unless it has something to perform meanwhile: it throws what the store threw.
   */
  async pass(over: AbortSignal): Promise<void> {
    await this.#readJobs(0)
    this.wake()
    await this.#until(() => this.#isQuiet && !this.#attempts.isGoingOn, over)
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Claims nothing more and releases what was not begun; resolves when nothing is held, or when the grace is over. */
  async drain(graceOver: AbortSignal): Promise<void> {
    if (this.#isExpired) return
    this.#mode = 'draining'
    this.#attempts.handBackWaiting()
    this.#endPause()
    await this.#until(() => this.#isIdle, graceOver)
  }

  /** Tells everything to stop and waits for it while the patience lasts. */
  async abort(patienceOver: AbortSignal): Promise<void> {
    if (this.#isExpired) return
    this.#attempts.stopAll('released')
    await this.#until(() => this.#isIdle, patienceOver)
  }

  /** Hands back what has not ended, and closes when the store has taken it or the time is over. */
  async handIn(over: AbortSignal): Promise<void> {
    if (this.isClosed) return
    this.#attempts.abandonAll()
    if (this.#attempts.hasEnded) this.wake()
    this.#endPause()
    await this.#until(() => this.#isQuiet, over)
    this.#close()
  }

  /**
   * Stops everything: the lease is nearly over, or the store has taken it away. What had ended is offered, and what had
   * not is released, until the store answers: it takes what nobody else has taken, and learns of the rest that this
   * process lives.
   */
  expire(): void {
    if (this.#isExpired) return
    this.#mode = 'expired'
    this.#attempts.forsake()
    this.#failures = 0
    this.#cancelAlarm?.()
    this.#cancelAlarm = this.#options.clock.timer(offerLimitMs, () => this.#close())
    this.#endPause()
    this.#changes.tell()
    if (this.#attempts.hasEnded) this.wake()
    else if (!this.#turning) this.#closeIfOver()
  }

  /** Once its lease was lost: offers at once what it would offer later; resolves when that is answered, or the time is over. */
  async offer(over: AbortSignal): Promise<void> {
    if (this.#mode !== 'expired' || !this.#attempts.hasEnded) return
    this.wake()
    this.#endPause()
    await this.#until(() => this.#isQuiet, over)
  }

  /** Stops everything without another word to the store. */
  forsake(): void {
    if (this.isClosed) return
    this.#close()
    this.#attempts.forsake()
  }

  #close(): void {
    this.#mode = 'closed'
    this.#endPause()
    this.#cancelAlarm?.()
    this.#changes.tell()
  }

  /** After trouble with the store: tries at once what would have been tried later. */
  #endPause(): void {
    this.#pause.abort()
    this.#pause = new AbortController()
  }

  async #takeTurns(): Promise<void> {
    this.#turning = true
    const { tracer } = this.#options
    // Where errors are traced, what has just ended waits for the next go: an error of it may still come in this one.
    while (this.#wanted && !this.isClosed && !(this.#deferred && tracer.isOn)) {
      this.#wanted = false
      if (!this.#isExpired || this.#attempts.hasEnded) await this.#turn()
      this.#handingIn = 0
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
    const { store, id, now } = this.#options
    const ended = this.#attempts.takeEnded()
    this.#handingIn = ended.length
    this.#prefetch.measure(ended.length)
    this.#lines.flush()
    let answer: TurnAnswer
    try {
      const finished = ended.map((one) => one.finished)
      answer = await store.turn({ worker: id, now: now(), finished, claimRequest: this.#claimRequest() })
    } catch (error) {
      this.#attempts.giveBack(ended)
      this.#mayHoldUnknown = true
      await this.#recover(error)
      return
    }
    if (answer.failed?.part === 'finished') this.#attempts.giveBack(ended)
    else this.#tell(ended, answer)
    if (answer.failed?.part === 'claims') this.#mayHoldUnknown = true
    await this.#take(answer)
  }

  /** With nothing more to do, wakes when the next delayed run is due. */
  #setAlarm(): void {
    const { clock, now, pollMs } = this.#options
    this.#cancelAlarm?.()
    if (this.#mode !== 'open') return
    // By both clocks: while the wall clock is behind or in doubt the two differ, and waiting by one would spin.
    const dueInMs = this.#nextRunAt === undefined ? Infinity : this.#nextRunAt - Math.min(now(), clock.now())
    this.#cancelAlarm = clock.timer(Math.max(1, Math.min(pollMs, dueInMs)), () => this.wake())
  }

  get #isExpired(): boolean {
    return this.#mode === 'expired' || this.#mode === 'closed'
  }

  #claimRequest(): ClaimRequest | undefined {
    if (this.#mode !== 'open') return undefined
    const { atHand, performing } = this.#attempts
    const slots = Math.min(Math.max(0, this.#options.concurrency - performing - atHand), this.#claimsLeft)
    const prefetch = Math.min(this.#prefetch.beside(atHand), this.#claimsLeft - slots)
    return slots + prefetch > 0 ? { jobs: this.#jobs, slots, prefetch } : undefined
  }

  /** What the answer gives is taken first: a claim or a notice comes once, whatever fails afterwards. */
  async #take(answer: TurnAnswer): Promise<void> {
    if (answer.expired) {
      this.expire()
      this.#options.onExpired()
      return
    }
    this.#nextRunAt = answer.nextRunAt
    if (answer.claims.length > 0) this.#add(answer.claims)
    for (const notice of answer.notices) this.#attempts.heed(notice)
    const trouble = answer.failed ?? (this.#isExpired ? undefined : await this.#lookBehind(answer))
    if (this.#mode !== 'open') this.#attempts.handBackWaiting()
    this.#attempts.begin(false)
    if (trouble !== undefined) {
      await this.#recover(trouble.error)
      return
    }
    this.#failures = 0
    if (answer.more && this.#claimRequest() !== undefined) this.#wanted = true
  }

  #add(claims: readonly Claim[]): void {
    this.#claimsLeft -= claims.length
    this.#attempts.add(claims)
    const { pass } = this.#options
    if (pass !== undefined) claims.forEach(pass.onClaim)
  }

  /** Reads what the answer only hints at: jobs that changed, and claims whose answer was lost with a failed turn. */
  async #lookBehind(answer: TurnAnswer): Promise<{ error: unknown } | undefined> {
    try {
      if (this.#mayHoldUnknown) await this.#findLostAnswers()
      if (answer.jobsRevision !== this.#jobsRevision) await this.#readJobs(answer.jobsRevision)
      return undefined
    } catch (error) {
      return { error }
    }
  }

  /** The jobs of a pass are those of its beginning. */
  async #readJobs(revision: number): Promise<void> {
    if (this.#options.pass !== undefined && this.#jobsRevision !== -1) return
    const executableJobs = await this.#options.executableJobs()
    this.#attempts.know(executableJobs)
    this.#jobs = [...executableJobs.keys()]
    const own = [...executableJobs.values()].map(({ job }) => job)
    this.#withEffect = new Set(own.filter((job) => 'endEffect' in endEffectFor(job)).map(({ name }) => name))
    this.#jobsRevision = revision
    this.#wanted = true
  }

  /** A turn may have been committed although it failed here: what it claimed is held by this worker, which must know it. */
  async #findLostAnswers(): Promise<void> {
    const claims = await claimsOf(this.#options.store, this.#options.id)
    this.#add(claims.filter(({ run, attempt }) => !this.#attempts.holds({ id: run, attempt })))
    this.#mayHoldUnknown = false
  }

  /** Goes on after a while; what ended waits meanwhile. */
  async #recover(error: unknown): Promise<void> {
    const { clock, events, id, pass } = this.#options
    if (this.isClosed) return
    if (pass !== undefined && (isFatal(error) || !this.#attempts.isGoingOn)) {
      this.#failure = { error }
      this.forsake()
      return
    }
    if (isFatal(error)) {
      this.forsake()
      events.emit('fatal', { where: 'worker', error })
      return
    }
    this.#failures += 1
    const backOff = backOffMs(this.#failures, id)
    const retryInMs = this.#isExpired ? Math.min(backOff, offerPauseMs) : backOff
    events.emit('trouble', { where: 'worker', error, retryInMs })
    await clock.sleep(retryInMs, this.#pause.signal)
    this.#wanted = true
  }

  #tell(ended: readonly Ended[], answer: TurnAnswer): void {
    const { events, pass } = this.#options
    const mayBeDue = ({ claim }: Ended): boolean =>
      claim.trigger !== undefined || this.#withEffect.has(claim.job)
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

  /** What ends in one go of the event loop is handed in together. */
  #defer(): void {
    if (this.#deferred) return
    this.#deferred = true
    setImmediate(() => {
      this.#deferred = false
      this.#attempts.begin(true)
      this.wake()
    })
  }

  /** Whether there is nothing left to wait for but what it may still offer. */
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
