import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type { Beat, Store } from '../../store/port.js'
import { isFull } from '../loop.js'

/** Renews the lease of one worker. */
export interface KeepAlive {
  start(): void
  /** Renews the lease now, because the process has accepted a doubted time. */
  accept(at: Instant): void
  stop(): Promise<void>
}

/** Which lease to renew, and what to call. */
export interface KeepAliveOptions {
  readonly worker: string
  readonly leaseMs: number
  /** The lease has expired or is about to. */
  readonly onExpired: () => void
  /** Called with each renewal: whether the worker drains. */
  readonly onBeat?: ((isDraining: boolean) => void) | undefined
  /** The store was full. The lease remains, because no other worker can take it either. */
  readonly onFull?: (() => void) | undefined
  /** The renewal itself has failed; `onExpired` follows. */
  readonly onTrouble: (error: unknown) => void
}

/** What a heartbeat needs. */
export interface HeartbeatOptions extends Omit<KeepAliveOptions, 'onTrouble'> {
  readonly store: Pick<Store, 'heartbeat'> & { workers(): Promise<readonly { readonly id: string }[]> }
  readonly clock: Clock
  readonly now: () => Instant
  /** Whether the first renewal is due at once; default: after a third of the lease. */
  readonly isDue?: boolean | undefined
}

/** The pause after a renewal that found the store full: once there is room, others may judge the lease. */
const fullPauseMs = 250

/**
 * Renews the lease each third of it. Gives up at four fifths, so that work stops before another worker may claim it. A
 * renewal that fails because the store is full does not count: another worker could not claim anything either.
 */
export class Heartbeat implements KeepAlive {
  readonly #options: HeartbeatOptions
  readonly #stop = new AbortController()
  #rest = new AbortController()
  #isDue: boolean
  #cancelDeadline: (() => void) | undefined
  #running: Promise<void> | undefined

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.#isDue = options.isDue ?? false
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

  /** Sleeps until the next renewal is due. */
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
      // The loops that use the store report its errors; here only the remaining time counts.
      return isFull(error) ? await this.#withoutRoom() : 'failed'
    }
  }

  /** Finds out by reading whether another worker took the lease as soon as there was room. */
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

  /** The lease counts from the request, however long the answer took: a hanging store must not extend it. */
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
