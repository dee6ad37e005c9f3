const open = 0
const busy = 1
const closed = 2

/** How long an exit waits for a call that is under way. */
const patienceMs = 1000

/**
 * Keeps the process from exiting while its lease thread is inside SQLite. Node ends all threads at an exit, and a thread
 * that then returns from native code takes the process down with SIGABRT, whatever its exit code was.
 */
export class ExitGate {
  /** What both threads share. */
  readonly shared: SharedArrayBuffer
  readonly #state: Int32Array

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared
    this.#state = new Int32Array(shared)
  }

  /** Called by the lease thread, for one call at a time: the process does not exit before the call is over. */
  async during<Result>(call: () => Promise<Result>): Promise<Result> {
    // The process exits: nothing may begin any more, so the thread waits for its end.
    if (Atomics.compareExchange(this.#state, 0, open, busy) === closed) Atomics.wait(this.#state, 0, closed)
    try {
      return await call()
    } finally {
      Atomics.compareExchange(this.#state, 0, busy, open)
      Atomics.notify(this.#state, 0)
    }
  }

  /** Called by the main thread as the process exits: waits for the call that is under way, and lets no other begin. */
  close(): void {
    while (Atomics.compareExchange(this.#state, 0, open, closed) === busy) {
      if (Atomics.wait(this.#state, 0, busy, patienceMs) === 'timed-out') return
    }
  }
}
