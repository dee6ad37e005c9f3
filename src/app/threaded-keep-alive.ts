import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { KeepAlive, KeepAliveOptions } from '../engine/keep-alive.js'
import type { LeaseThreadData, LeaseThreadMessage } from './lease-thread.js'

/** Keeps a lease from a thread with its own connection. */
export class ThreadedKeepAlive implements KeepAlive {
  readonly #options: KeepAliveOptions & Pick<LeaseThreadData, 'url' | 'durability' | 'stallMs'>
  #thread: Worker | undefined
  #stopping = false

  constructor(options: KeepAliveOptions & Pick<LeaseThreadData, 'url' | 'durability' | 'stallMs'>) {
    this.#options = options
  }

  start(): void {
    const { onExpired, worker, leaseMs, url, durability, stallMs } = this.#options
    const workerData: LeaseThreadData = { url, durability, worker, leaseMs, stallMs }
    const thread = new Worker(threadFile(), { workerData })
    this.#thread = thread
    thread.on('message', (message: LeaseThreadMessage) => {
      if (message === 'ping') thread.postMessage('pong')
      else onExpired()
    })
    // Without the thread the lease runs out, so that the worker must be replaced by one with a thread of its own.
    thread.on('error', () => this.#gone())
    thread.on('exit', () => this.#gone())
    thread.unref()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    const thread = this.#thread
    this.#thread = undefined
    if (thread === undefined) return
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
    thread.ref()
    thread.postMessage('stop')
    await ended
  }

  #gone(): void {
    if (this.#stopping || this.#thread === undefined) return
    this.#thread = undefined
    this.#options.onExpired()
  }
}

/** The compiled thread, wherever this file itself was loaded from. */
function threadFile(): string {
  return createRequire(import.meta.url).resolve('#lease-thread')
}
