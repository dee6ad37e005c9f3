/** How to read the version of a store. */
export interface StoreVersionOptions {
  /** Changes after every commit; undefined if the store cannot tell synchronously. */
  readonly version?: (() => unknown) | undefined
  /** The same by a query to the database. */
  readonly stamp?: (() => Promise<unknown>) | undefined
  readonly clock: { monotonicMs(): number; sleep(ms: number): Promise<void> }
}

/** The shortest time between two queries for the version. */
const paceMs = 10

/** After a change that a query found, requests wait this long: runs that became due start first, on the same database. */
const settleMs = 30

/** The version of a store: the same value twice means that nothing was committed in between. Requests share a look. */
export class StoreVersion {
  readonly #options: StoreVersionOptions
  #beganMs = -Infinity
  /** The running look. */
  #current: Promise<unknown> | undefined
  /** The next look: all requests until it begins get its value. */
  #next: Promise<unknown> | undefined
  #latest: unknown
  #settledMs = -Infinity
  readonly #ofRequests = new WeakMap<Request, Promise<unknown>>()

  constructor(options: StoreVersionOptions) {
    this.#options = options
  }

  /** An earlier value; undefined if none is known. */
  get latest(): unknown {
    const { version } = this.#options
    return version === undefined ? this.#latest : version()
  }

  /** A value that is read after a request arrived; the same for all parts of its answer. */
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
    const found = await this.#current
    await this.#settle(found)
    return found
  }

  /** Waits after a change; one that follows while requests wait does not prolong the wait. */
  async #settle(found: unknown): Promise<void> {
    const { clock } = this.#options
    const isChanged = this.#latest !== undefined && this.#latest !== found
    this.#latest = found
    const atMs = clock.monotonicMs()
    if (isChanged && atMs >= this.#settledMs) this.#settledMs = atMs + settleMs
    if (this.#settledMs > atMs) await clock.sleep(this.#settledMs - atMs)
  }
}
