import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type { Beat, Store } from '../../store/port.js'
import { isFull } from '../loop.js'

/** Keeps one worker's lease from running out. */
export interface KeepAlive {
  start(): void
  /** The process believes a time that was in doubt: the lease is renewed by it now, before anybody judges it. */
  accept(at: Instant): void
  stop(): Promise<void>
}

/** What keeping a lease needs. */
export interface KeepAliveOptions {
  readonly worker: string
  readonly leaseMs: number
  /** The lease is over, or so little of it is left that nothing may go on. */
  readonly onExpired: () => void
  /** Every renewal says whether the worker is to take nothing more. */
  readonly onBeat?: ((isDraining: boolean) => void) | undefined
  /** The store had no room for a renewal. The lease goes on: nobody else can take it either. */
  readonly onFull?: (() => void) | undefined
  /** What keeps the lease has failed; `onExpired` follows. */
  readonly onTrouble: (error: unknown) => void
}

/** Where a heartbeat goes and what it counts the time with. */
export interface HeartbeatOptions extends Omit<KeepAliveOptions, 'onTrouble'> {
  readonly store: Pick<Store, 'heartbeat'> & { workers(): Promise<readonly { readonly id: string }[]> }
  readonly clock: Clock
  readonly now: () => Instant
}

/** How soon a renewal that found no room is tried again: soon after there is room, others may judge the lease. */
const fullPauseMs = 250

/**
 * Renews every third of the lease. Gives up at four fifths of it, so that work stops before somebody else may take it.
 * A renewal that fails only for want of room does not count against the lease: whoever would take it needs room too.
 */
export class Heartbeat implements KeepAlive {
  readonly #options: HeartbeatOptions
  readonly #stop = new AbortController()
  #rest = new AbortController()
  #isDue = false
  #cancelDeadline: (() => void) | undefined
  #running: Promise<void> | undefined

  constructor(options: HeartbeatOptions) {
    this.#options = options
  }

  accept(): void {
    this.#isDue = true
    this.#rest.abort()
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#end()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, leaseMs } = this.#options
    this.#renewed(clock.monotonicMs())
    await this.#sleep(leaseMs / 3)
    while (!this.#stop.signal.aborted) {
      this.#isDue = false
      const askedMs = clock.monotonicMs()
      const answer = await this.#beat()
      if (answer === 'expired') return this.#giveUp()
      if (answer !== 'failed') this.#renewed(askedMs)
      this.#tell(answer)
      await this.#sleep(this.#pauseMs(answer))
    }
  }

  /** Until the next renewal is due. */
  async #sleep(ms: number): Promise<void> {
    if (this.#isDue || this.#stop.signal.aborted) return
    this.#rest = new AbortController()
    await this.#options.clock.sleep(ms, this.#rest.signal)
  }

  async #beat(): Promise<Beat | 'failed' | 'full'> {
    const { store, worker, now, leaseMs } = this.#options
    try {
      return await store.heartbeat({ worker, now: now(), leaseMs })
    } catch (error) {
      // The loops that need the store report its trouble; here only the time that is left counts.
      return isFull(error) ? await this.#withoutRoom() : 'failed'
    }
  }

  /** Reading needs no room: whether somebody took the lease as soon as there was some. */
  async #withoutRoom(): Promise<'full' | 'expired' | 'failed'> {
    const { store, worker } = this.#options
    try {
      return (await store.workers()).some(({ id }) => id === worker) ? 'full' : 'expired'
    } catch {
      return 'failed'
    }
  }

  #tell(answer: Exclude<Beat, 'expired'> | 'failed' | 'full'): void {
    const { onBeat, onFull } = this.#options
    if (answer === 'full') onFull?.()
    else if (answer !== 'failed') onBeat?.(answer === 'draining')
  }

  #pauseMs(answer: Beat | 'failed' | 'full'): number {
    const { leaseMs } = this.#options
    if (answer === 'full') return Math.min(fullPauseMs, leaseMs / 10)
    return answer === 'failed' ? Math.min(1000, leaseMs / 10) : leaseMs / 3
  }

  /** The lease counts from when it was asked for, however long the answer took; a store that hangs must not outlast it. */
  #renewed(askedMs: number): void {
    if (this.#stop.signal.aborted) return
    const { clock, leaseMs } = this.#options
    this.#cancelDeadline?.()
    const leftMs = askedMs + leaseMs * 0.8 - clock.monotonicMs()
    this.#cancelDeadline = clock.timer(Math.max(0, leftMs), () => this.#giveUp())
  }

  #giveUp(): void {
    if (this.#stop.signal.aborted) return
    this.#end()
    this.#options.onExpired()
  }

  #end(): void {
    this.#stop.abort()
    this.#rest.abort()
    this.#cancelDeadline?.()
  }
}
