import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import type { Store } from '../store/store.js'

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
}

/** Renews every third of the lease. Gives up at four fifths of it, so that work stops before somebody else may take it. */
export class Heartbeat implements KeepAlive {
  readonly #options: KeepAliveOptions & { store: Pick<Store, 'heartbeat'>; clock: Clock; now: () => Instant }
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: KeepAliveOptions & { store: Pick<Store, 'heartbeat'>; clock: Clock; now: () => Instant }) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, leaseMs, onExpired } = this.#options
    let renewedMs = clock.monotonicMs()
    await clock.sleep(leaseMs / 3, this.#stop.signal)
    while (!this.#stop.signal.aborted) {
      const answer = await this.#beat()
      if (answer === 'alive') renewedMs = clock.monotonicMs()
      const isOver = answer === 'expired' || clock.monotonicMs() - renewedMs > leaseMs * 0.8
      if (isOver && !this.#stop.signal.aborted) {
        onExpired()
        return
      }
      await clock.sleep(answer === 'failed' ? Math.min(1000, leaseMs / 10) : leaseMs / 3, this.#stop.signal)
    }
  }

  async #beat(): Promise<'alive' | 'expired' | 'failed'> {
    const { store, worker, now, leaseMs } = this.#options
    try {
      return await store.heartbeat({ worker, now: now(), leaseMs })
    } catch {
      // The loops that need the store report its trouble; here only the time that is left counts.
      return 'failed'
    }
  }
}
