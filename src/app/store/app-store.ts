import type { Events } from '../../engine/events.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Durability, ReaderAccess } from './open-adapter.js'
import { openStore } from './open-store.js'
import { refuseWrites } from './without-writes.js'
import { assertNotEmptied, Witness } from './witness.js'

/** The options of the store of an app. */
export interface AppStoreOptions {
  readonly url: () => string
  readonly durability: Durability
  /** Whether a missing store is created. */
  readonly create: boolean
  readonly clock: Clock
  readonly events: Events
  /** Aborts when the app closes. */
  readonly signal: AbortSignal
  /** For a process that only reads. The app has another connection, with the witness. */
  readonly reader?: ReaderAccess | undefined
}

/** The store of an app, opened on first use, with the witness that notices when it went back in time. */
export class AppStore {
  readonly #options: AppStoreOptions
  #opening: Promise<Store> | undefined
  #opened: Store | undefined
  /** The same store before writes are refused. */
  #raw: Store | undefined
  #witness: Witness | undefined

  constructor(options: AppStoreOptions) {
    this.#options = options
  }

  /** The store if it is already open, so that the hot path does not wait for a promise. */
  get opened(): Store | undefined {
    return this.#opened
  }

  /** Why the store may only be read, if so. A reader compares each time: the process that writes may accept it later. */
  async wentBack(): Promise<RotaError | undefined> {
    const { clock, durability, reader } = this.#options
    const store = await this.open()
    if (reader === undefined) return this.#witness?.wentBack
    const witness = await Witness.open({ store, clock, durability, onWentBack: () => undefined })
    witness?.close()
    return witness?.wentBack
  }

  async open(): Promise<Store> {
    this.#opening ??= this.#open()
    return await this.#opening
  }

  /** The store for a process that writes; throws if it went back in time, unless that is accepted. */
  async openToWrite(acceptStore: boolean): Promise<Store> {
    const store = await this.open()
    const wentBack = this.#witness?.wentBack
    if (wentBack === undefined || this.#raw === undefined) return store
    if (!acceptStore) throw wentBack
    this.#witness?.accept()
    this.#opened = this.#raw
    this.#opening = Promise.resolve(this.#raw)
    return this.#raw
  }

  /** Compares the store with its witness from now on; problems are reported as events. */
  watch(): void {
    const { events } = this.#options
    this.#witness?.watch()
    const message = this.#witness?.trouble
    if (message !== undefined) {
      const details = { message }
      events.emit('operation', { operation: 'start', target: 'witness', outcome: 'warning', details })
    }
    events.on('fatal', ({ error }) => {
      if (error instanceof RotaError && error.code === 'STORE_WENT_BACK') this.#witness?.refuse()
    })
  }

  async unwatch(): Promise<void> {
    await this.#witness?.unwatch()
  }

  async close(): Promise<void> {
    const store = await this.#opening?.catch(() => undefined)
    await this.unwatch()
    await store?.close()
    this.#witness?.close()
  }

  async #open(): Promise<Store> {
    const { durability, create, clock, events, signal, reader } = this.#options
    let store: Store | undefined
    try {
      const url = this.#options.url()
      assertNotEmptied(url)
      const onCommit = (commit: number): void => this.#witness?.see(commit)
      store = await openStore(url, { clock, durability, directory: '/', create, onCommit, signal, reader })
      if (reader !== undefined) {
        const { changeState } = reader
        const error = new RotaError('STORE_URL', `${store.url} was opened to read only`)
        this.#opened = refuseWrites(store, error, { changeState })
        return this.#opened
      }
      const onWentBack = (error: RotaError): void => events.emit('fatal', { where: 'store', error })
      this.#witness = await Witness.open({ store, clock, durability, onWentBack })
      this.#raw = store
      const { wentBack } = this.#witness ?? {}
      this.#opened = wentBack === undefined ? store : refuseWrites(store, wentBack)
      return this.#opened
    } catch (error) {
      // A failed open may succeed the next time: a lock is freed, a directory is created.
      this.#opening = undefined
      await store?.close().catch(() => undefined)
      throw error
    }
  }
}
