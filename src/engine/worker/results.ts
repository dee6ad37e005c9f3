import type { RunId } from '../../kernel/identity/identity.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StoredError } from '../../kernel/run/run.js'

/** The result of an attempt in this process. */
export interface TaskResult {
  readonly taskId: string
  readonly runId: RunId
  readonly job: string
  readonly attempt: number
  /** How it ended: `done`, `failed`, `timed-out`, `cancelled` or `released`. */
  readonly end: string
  readonly error: StoredError | null
  /** The return value of its handler. */
  readonly output: Json | null
  readonly durationMs: number
  /** How many results before this one were dropped because they were not read in time. */
  readonly missed: number
}

/** Options of a stream of results. */
export interface ResultsOptions {
  /** How many results may wait to be read before the oldest are dropped; default: 1000. */
  readonly buffer?: number | undefined
  /** Ends the stream. */
  readonly signal?: AbortSignal | undefined
}

/** A result as the line of another program: the names and nothing else, an error as its message, the output as text. */
export function formatTaskResult({ taskId, error, output, durationMs }: TaskResult): string {
  const text = output === null ? '' : typeof output === 'string' ? output : JSON.stringify(output)
  return JSON.stringify({
    task_id: taskId,
    error: error === null ? null : error.message,
    output: text,
    duration_ms: durationMs,
  })
}

/** A stream of results for one reader; it starts when it is created, and holds a limited number of results. */
export class ResultStream implements AsyncIterableIterator<TaskResult> {
  readonly #waiting: Omit<TaskResult, 'missed'>[] = []
  readonly #readers: ((next: IteratorResult<TaskResult>) => void)[] = []
  readonly #mostWaiting: number
  readonly #signal: AbortSignal | undefined
  readonly #onEnd: (stream: ResultStream) => void
  #missed = 0
  #isEnded = false
  readonly #end = (): void => this.end()

  constructor({ buffer = 1000, signal }: ResultsOptions, onEnd: (stream: ResultStream) => void) {
    this.#mostWaiting = Math.max(1, buffer)
    this.#signal = signal
    this.#onEnd = onEnd
    signal?.addEventListener('abort', this.#end, { once: true })
    if (signal?.aborted === true) this.end()
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  push(result: Omit<TaskResult, 'missed'>): void {
    if (this.#isEnded) return
    const reader = this.#readers.shift()
    if (reader !== undefined) {
      reader({ done: false, value: { ...result, missed: 0 } })
      return
    }
    if (this.#waiting.push(result) <= this.#mostWaiting) return
    this.#waiting.shift()
    this.#missed += 1
  }

  /** Ends the stream after the waiting results. */
  end(): void {
    this.#isEnded = true
    // The signal may live longer than the stream.
    this.#signal?.removeEventListener('abort', this.#end)
    this.#onEnd(this)
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined })
  }

  next(): Promise<IteratorResult<TaskResult>> {
    const result = this.#waiting.shift()
    if (result !== undefined) {
      const missed = this.#missed
      this.#missed = 0
      return Promise.resolve({ done: false, value: { ...result, missed } })
    }
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => this.#readers.push(resolve))
  }

  return(): Promise<IteratorResult<TaskResult>> {
    this.#waiting.length = 0
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }
}
