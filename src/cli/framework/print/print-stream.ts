/** A standard stream of the process, or its replacement in a test. */
type Stream = Pick<NodeJS.WriteStream, 'write' | 'on' | 'writableLength'> &
  Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>>

/** How much is buffered for a reader that does not read; more is dropped. */
const mostWaitingBytes = 8 * 1024 * 1024

/**
 * Standard output or standard error. Its disk may be full, and its reader may be gone or read nothing: writing never
 * throws and never waits, because output must not stop the work. Lost writes are counted.
 */
export class PrintStream {
  readonly #stream: Stream
  readonly #broken = new AbortController()
  #failure: NodeJS.ErrnoException | undefined
  #waiting = 0
  #lost = 0
  readonly #onSettled: (() => void)[] = []
  #onRestored: ((lost: number) => void) | undefined

  constructor(stream: Stream) {
    this.#stream = stream
    stream.on('error', (error: NodeJS.ErrnoException) => this.#failed(error))
  }

  /** The current width of the terminal; undefined without a terminal, so that output for programs is never wrapped. */
  get columns(): number | undefined {
    const { isTTY = false, columns = 0 } = this.#stream
    return isTTY && columns > 0 ? columns : undefined
  }

  /** Whether it is a terminal. */
  get isTerminal(): boolean {
    return this.#stream.isTTY === true
  }

  /** Aborts at the first failed write; the reason is the error. */
  get broken(): AbortSignal {
    return this.#broken.signal
  }

  /** The error of a failed write. A reader that left is not a failure: it has read what it needed. */
  get failure(): NodeJS.ErrnoException | undefined {
    return this.#failure
  }

  /** Called with the number of lost writes, once the stream can be written again. */
  set onRestored(tell: (lost: number) => void) {
    this.#onRestored = tell
  }

  write(text: string): void {
    if (this.#stream.writableLength > mostWaitingBytes) {
      this.#lost += 1
      return
    }
    this.#waiting += 1
    this.#stream.write(text, (error) => this.#written(error ?? undefined))
  }

  /** Resolves when everything is written or lost, or when the signal aborts. */
  async settled(signal?: AbortSignal): Promise<void> {
    if (this.#waiting === 0 || signal?.aborted === true) return
    await new Promise<void>((resolve) => {
      this.#onSettled.push(resolve)
      signal?.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  #written(error: NodeJS.ErrnoException | undefined): void {
    this.#waiting -= 1
    this.#count(error)
    if (this.#waiting === 0) for (const resolve of this.#onSettled.splice(0)) resolve()
  }

  #count(error: NodeJS.ErrnoException | undefined): void {
    if (error !== undefined) {
      this.#lost += 1
      this.#failed(error)
    } else if (this.#lost > 0) {
      const lost = this.#lost
      this.#lost = 0
      this.#onRestored?.(lost)
    }
  }

  #failed(error: NodeJS.ErrnoException): void {
    if (error.code !== 'EPIPE') this.#failure ??= error
    this.#broken.abort(error)
  }
}

/** The number of columns: of the terminal, otherwise from the environment. */
export function outputWidth(
  environment: Readonly<Record<string, string | undefined>>,
  { columns }: PrintStream,
): number {
  const width = columns ?? Number(environment['COLUMNS'])
  return Number.isInteger(width) && width > 0 ? Math.max(leastWidth, width) : usualWidth
}

const usualWidth = 80
/** Narrower than this, tables and wrapped texts are no longer readable. */
const leastWidth = 40
