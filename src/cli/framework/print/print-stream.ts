/** A standard stream of the process, or what stands for one in a test. */
type Stream = Pick<NodeJS.WriteStream, 'write' | 'on' | 'writableLength'> &
  Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>>

/** How much may wait for a reader that does not read; what comes on top of that is dropped. */
const mostWaitingBytes = 8 * 1024 * 1024

/**
 * Standard output or standard error. Its disk may be full, its reader may be gone or read nothing: writing never
 * throws and never waits, because output is no reason to stop working. What could not be written is counted.
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

  /** How wide the terminal is now; undefined where this is none, so that what programs read is never wrapped. */
  get columns(): number | undefined {
    const { isTTY = false, columns = 0 } = this.#stream
    return isTTY && columns > 0 ? columns : undefined
  }

  /** Whether a person watches. */
  get isTerminal(): boolean {
    return this.#stream.isTTY === true
  }

  /** Aborts when something could not be written for the first time; the reason is the error. */
  get broken(): AbortSignal {
    return this.#broken.signal
  }

  /** Why something could not be written. A reader that left is not a failure: it has what it wanted. */
  get failure(): NodeJS.ErrnoException | undefined {
    return this.#failure
  }

  /** Is told how many writes were lost, once the stream takes something again. */
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

  /** Resolves when everything that was written has arrived or is lost, or when the signal aborts. */
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

/** How many columns there are: those of the terminal, else those that the environment names. */
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
