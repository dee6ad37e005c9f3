import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import type { Beat, Store } from '../store/store.js'

/** Keeps one worker's lease from running out. */
export interface KeepAlive {
  start(): void
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
  /** What keeps the lease has failed; `onExpired` follows. */
  readonly onTrouble: (error: unknown) => void
}

/** Where a heartbeat goes and what it counts the time with. */
export interface HeartbeatOptions extends Omit<KeepAliveOptions, 'onTrouble'> {
  readonly store: Pick<Store, 'heartbeat'>
  readonly clock: Clock
  readonly now: () => Instant
}

/** Renews every third of the lease. Gives up at four fifths of it, so that work stops before somebody else may take it. */
export class Heartbeat implements KeepAlive {
  readonly #options: HeartbeatOptions
  readonly #stop = new AbortController()
  #cancelDeadline: (() => void) | undefined
  #running: Promise<void> | undefined

  constructor(options: HeartbeatOptions) {
    this.#options = options
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
    const { signal } = this.#stop
    this.#renewed(clock.monotonicMs())
    await clock.sleep(leaseMs / 3, signal)
    while (!signal.aborted) {
      const askedMs = clock.monotonicMs()
      const answer = await this.#beat()
      if (answer === 'expired') return this.#giveUp()
      const isRenewed = answer !== 'failed'
      if (isRenewed) this.#renewed(askedMs)
      if (isRenewed) this.#options.onBeat?.(answer === 'draining')
      await clock.sleep(isRenewed ? leaseMs / 3 : Math.min(1000, leaseMs / 10), signal)
    }
  }

  async #beat(): Promise<Beat | 'failed'> {
    const { store, worker, now, leaseMs } = this.#options
    try {
      return await store.heartbeat({ worker, now: now(), leaseMs })
    } catch {
      // The loops that need the store report its trouble; here only the time that is left counts.
      return 'failed'
    }
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
    this.#cancelDeadline?.()
  }
}
