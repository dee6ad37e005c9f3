const open = 0
const busy = 1
const closed = 2

/** How long an exit waits for a running call. */
const patienceMs = 1000

/**
 * Delays the exit of the process while one of its threads is inside SQLite. Node stops all threads at an exit, and a thread
 * that then returns from native code crashes the process with SIGABRT, whatever its exit code was.
 */
export class ExitGate {
  /** The memory that both threads share. */
  readonly shared: SharedArrayBuffer
  readonly #state: Int32Array

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared
    this.#state = new Int32Array(shared)
  }

  /** Runs one call of the thread: the process does not exit before it has ended. */
  async during<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#enter()
    try {
      return await call()
    } finally {
      this.#leave()
    }
  }

  /** Called by the main thread at exit: waits for the running call, and prevents others. */
  close(): void {
    while (Atomics.compareExchange(this.#state, 0, open, closed) === busy) {
      if (Atomics.wait(this.#state, 0, busy, patienceMs) === 'timed-out') return
    }
  }

  /** While the process exits, no call may start: the thread waits for the end. */
  #enter(): void {
    if (Atomics.compareExchange(this.#state, 0, open, busy) === closed) Atomics.wait(this.#state, 0, closed)
  }

  #leave(): void {
    Atomics.compareExchange(this.#state, 0, busy, open)
    Atomics.notify(this.#state, 0)
  }
}
