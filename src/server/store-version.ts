/** What a look at the version of a store needs. */
export interface StoreVersionOptions {
  /** Another value after every change; undefined where the store does not know at once. */
  readonly version?: (() => unknown) | undefined
  /** The same, where the database has to be asked. */
  readonly stamp?: (() => Promise<unknown>) | undefined
  readonly clock: { monotonicMs(): number; sleep(ms: number): Promise<void> }
}

/** How soon the database is asked for its version again. */
const paceMs = 10

/** The version of a store: the same value twice says that nothing was committed between. Many who ask share one look. */
export class StoreVersion {
  readonly #options: StoreVersionOptions
  #beganMs = -Infinity
  /** The look that is being taken. */
  #current: Promise<unknown> | undefined
  /** The look that is not begun yet: whoever asks until then gets its value. */
  #next: Promise<unknown> | undefined
  #latest: unknown
  readonly #ofRequests = new WeakMap<Request, Promise<unknown>>()

  constructor(options: StoreVersionOptions) {
    this.#options = options
  }

  /** A value that was true at some time in the past; undefined where none is known. */
  get latest(): unknown {
    const { version } = this.#options
    return version === undefined ? this.#latest : version()
  }

  /** A value that is read after a request arrived; the same one for all parts of its answer. */
  lookFor(request: Request): Promise<unknown> {
    const known = this.#ofRequests.get(request)
    if (known !== undefined) return known
    const look = this.#look()
    this.#ofRequests.set(request, look)
    return look
  }

  async #look(): Promise<unknown> {
    const { version, stamp } = this.#options
    if (version !== undefined) return version()
    if (stamp === undefined) return undefined
    this.#next ??= this.#begin(stamp)
    return await this.#next
  }

  async #begin(stamp: () => Promise<unknown>): Promise<unknown> {
    const { clock } = this.#options
    await this.#current?.catch(() => undefined)
    const leftMs = this.#beganMs + paceMs - clock.monotonicMs()
    if (leftMs > 0) await clock.sleep(leftMs)
    this.#next = undefined
    this.#beganMs = clock.monotonicMs()
    this.#current = stamp()
    this.#latest = await this.#current
    return this.#latest
  }
}
