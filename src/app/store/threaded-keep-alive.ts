import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { KeepAlive, KeepAliveOptions } from '../../engine/worker/keep-alive.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { ExitGate } from './exit-gate.js'
import type { LeaseThreadData, LeaseThreadMessage, MainThreadMessage } from './lease-thread.js'

/** What keeping a lease from a thread needs. */
export interface ThreadedKeepAliveOptions
  extends KeepAliveOptions,
    Pick<LeaseThreadData, 'url' | 'durability' | 'stallMs' | 'now'> {
  readonly clock: Clock
}

/** How long a thread may take to keep the lease: four fifths of the shortest one that a worker starts with. */
const firstBeatMs = 4000

/** How long a thread may take to end; one that hangs must not keep the process. */
const endMs = 5000

/** Keeps a lease from a thread with its own connection. */
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
    // Flags of the program, such as --input-type or --import, are not meant for the thread, which may not even start with them.
    const thread = new Worker(threadFile(), { workerData, execArgv: [] })
    this.#thread = thread
    // A store that does not answer the thread must not let work outlast the lease that it was begun under.
    const cancel = clock.timer(Math.max(firstBeatMs, leaseMs * 0.8), () => {
      if (this.#thread === thread) onExpired()
    })
    thread.on('message', (message: LeaseThreadMessage) => {
      cancel()
      if (message === 'ping') thread.postMessage('pong' satisfies MainThreadMessage)
      else if (message === 'expired') onExpired()
      else if (message === 'full') onFull?.()
      else onBeat?.(message === 'draining')
    })
    thread.on('error', (error) => {
      if (this.#thread === thread) onTrouble(error)
    })
    // Without the thread the lease runs out, so that the worker must be replaced by one with a thread of its own.
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

/** The compiled thread, wherever this file itself was loaded from. */
function threadFile(): string {
  return createRequire(import.meta.url).resolve('#lease-thread')
}
