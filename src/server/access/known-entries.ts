import type { Store } from '../../store/port.js'
import type { StoreVersion } from '../store-version.js'

/** The part of a store that has tokens and sessions. */
export type Entries = Pick<Store, 'stateEntries'>

const mostKept = 1000

/**
 * Caches tokens and sessions until the next commit: frequent requests do not cost a query each, and a revoked token is
 * refused immediately.
 */
export class KnownEntries {
  readonly #version: StoreVersion
  readonly #kept = new Map<
    string,
    { readonly version: unknown; readonly entries: ReturnType<Entries['stateEntries']> }
  >()

  constructor(version: StoreVersion) {
    this.#version = version
  }

  /** The entries of a store when a request arrived, or later. */
  of(request: Request, store: Entries): Entries {
    return {
      stateEntries: async (query) => {
        const key = JSON.stringify(query)
        const version = this.#kept.has(key) ? await this.#version.lookFor(request) : undefined
        const kept = this.#kept.get(key)
        if (kept?.version !== undefined && kept.version === version) return await kept.entries
        return await this.#read(key, () => store.stateEntries(query))
      },
    }
  }

  async #read(key: string, read: () => ReturnType<Entries['stateEntries']>) {
    if (this.#kept.size >= mostKept) this.#kept.clear()
    const version = this.#version.latest
    const entries = read()
    this.#kept.set(key, { version, entries })
    try {
      return await entries
    } catch (error) {
      this.#kept.delete(key)
      throw error
    }
  }
}
