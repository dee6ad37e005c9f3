import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { KeepAlive, KeepAliveOptions } from '../../engine/worker/keep-alive.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { ExitGate } from './exit-gate.js'
import type { LeaseThreadData, LeaseThreadMessage, MainThreadMessage } from './lease-thread.js'

/** The options of renewing a lease in a thread. */
export interface ThreadedKeepAliveOptions
  extends KeepAliveOptions,
    Pick<LeaseThreadData, 'url' | 'durability' | 'stallMs' | 'now'> {
  readonly clock: Clock
}

/** How long a thread may take to start: four fifths of the shortest lease. */
const firstBeatMs = 4000

/** How long a thread may take to end; a hung one must not keep the process alive. */
const endMs = 5000

/** Renews a lease in a thread with its own connection. */
export class ThreadedKeepAlive implements KeepAlive {
  readonly #options: ThreadedKeepAliveOptions
  #thread: Worker | undefined

  constructor(options: ThreadedKeepAliveOptions) {
    this.#options = options
  }

  start(): void {
    const { onExpired, onBeat, onFull, onTrouble, clock } = this.#options
    const { worker, leaseMs, url, durability, stallMs, now } = this.#options
    const gate = new ExitGate()
    const closeGate = (): void => gate.close()
    process.on('exit', closeGate)
    const workerData: LeaseThreadData = { url, durability, worker, leaseMs, stallMs, now, gate: gate.shared }
    // Flags of the program, such as --input-type or --import, must not apply to the thread, which may not start with them.
    const thread = new Worker(threadFile(), { workerData, execArgv: [] })
    this.#thread = thread
    // If the store does not answer the thread, work must not outlast its lease.
    const cancel = clock.timer(Math.max(firstBeatMs, leaseMs * 0.8), () => {
      if (this.#thread === thread) onExpired()
    })
    thread.on('message', (message: LeaseThreadMessage) => {
      cancel()
      thread.postMessage('pong' satisfies MainThreadMessage)
      if (message === 'ping') return
      if (message === 'expired') onExpired()
      else if (message === 'full') onFull?.()
      else onBeat?.(message === 'draining')
    })
    thread.on('error', (error) => {
      if (this.#thread === thread) onTrouble(error)
    })
    // Without the thread the lease expires, so the worker must be replaced by one with a new thread.
    thread.on('exit', () => {
      process.off('exit', closeGate)
      cancel()
      if (this.#thread !== thread) return
      this.#thread = undefined
      onExpired()
    })
    thread.unref()
  }

  accept(at: Instant): void {
    this.#thread?.postMessage({ accepted: at } satisfies MainThreadMessage)
  }

  async stop(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    if (thread === undefined) return
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
    const cancel = this.#options.clock.timer(endMs, () => void thread.terminate())
    thread.ref()
    thread.postMessage('stop' satisfies MainThreadMessage)
    await ended
    cancel()
  }
}

/** The compiled thread, wherever this file was loaded from. */
function threadFile(): string {
  return createRequire(import.meta.url).resolve('#lease-thread')
}
