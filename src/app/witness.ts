import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { RotaError } from '../model/errors.js'
import type { Store } from '../store/store.js'
import type { Clock } from '../time/clock.js'
import { isOnManyHosts } from './open-store.js'

const everyMs = 60_000

/** A database may be replaced by an older one while it is in use. */
const manyHostsEveryMs = 10_000

/** How long the last look may take. */
const lastLookMs = 1000

/**
 * Remembers, outside the store, the highest epoch this host has seen. A store with a lower one went back in time: a
 * backup was restored or a failover lost commits, and runs that were done would be done again without a word.
 */
export class Witness {
  readonly #file: string
  readonly #store: Store
  readonly #clock: Clock
  readonly #onWentBack: (error: RotaError) => void
  #epoch: number
  #isClosed = false
  #refusing: Promise<void> | undefined
  #cancelTimer: () => void = () => undefined

  private constructor(file: string, epoch: number, options: WitnessOptions) {
    this.#file = file
    this.#epoch = epoch
    this.#store = options.store
    this.#clock = options.clock
    this.#onWentBack = options.onWentBack
    this.#arm()
  }

  /** Compares the store with what was seen before; throws where it went back, unless that is accepted. */
  static async open(options: WitnessOptions & { readonly accept: boolean }): Promise<Witness | undefined> {
    const { store, clock, accept } = options
    if (store.url.startsWith('memory:')) return undefined
    const { id, epoch } = await store.health({ now: clock.now() })
    const file = fileFor(id)
    const seen = await readEpoch(file)
    if (seen > epoch && !accept) throw wentBack(store, { epoch, seen })
    await writeEpoch(file, epoch)
    return new Witness(file, epoch, options)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelTimer()
    const over = new AbortController()
    const look = this.#note().catch(() => undefined)
    await Promise.race([look, this.#clock.sleep(lastLookMs, over.signal)])
    over.abort()
    await this.#refusing
  }

  /** Lets nobody on this host start on this store until somebody accepts what it has become. */
  refuse(): void {
    this.#refusing ??= writeEpoch(this.#file, Number.MAX_SAFE_INTEGER)
  }

  #arm(): void {
    const ms = isOnManyHosts(this.#store.url) ? manyHostsEveryMs : everyMs
    this.#cancelTimer = this.#clock.timer(ms, () => void this.#watch())
  }

  async #watch(): Promise<void> {
    await this.#note().catch(() => undefined)
    if (!this.#isClosed) this.#arm()
  }

  async #note(): Promise<void> {
    const { epoch } = await this.#store.health({ now: this.#clock.now() })
    if (this.#refusing !== undefined) return
    if (epoch < this.#epoch) {
      this.refuse()
      this.#onWentBack(wentBack(this.#store, { epoch, seen: this.#epoch }))
    }
    if (epoch <= this.#epoch) return
    this.#epoch = epoch
    await writeEpoch(this.#file, epoch)
  }
}

/** What a witness watches, and whom it tells. */
export interface WitnessOptions {
  readonly store: Store
  readonly clock: Clock
  /** The store went back while it was in use. */
  readonly onWentBack: (error: RotaError) => void
}

function wentBack(store: Store, { epoch, seen }: { epoch: number; seen: number }): RotaError {
  const message = `${store.url} is at epoch ${epoch}, but this host has seen ${seen}: was a backup restored?`
  return new RotaError('STORE_WENT_BACK', `${message} Start with --accept-store to go on from here`)
}

function fileFor(id: string): string {
  const named = process.env['XDG_STATE_HOME'] ?? ''
  const state = isAbsolute(named) ? named : join(homedir(), '.local', 'state')
  // The id was read from a file that anybody may have made.
  return join(state, 'rota', `${encodeURIComponent(id)}.json`)
}

async function readEpoch(file: string): Promise<number> {
  try {
    const { epoch } = JSON.parse(await readFile(file, 'utf8')) as { epoch?: unknown }
    return typeof epoch === 'number' ? epoch : 0
  } catch {
    return 0
  }
}

/** A witness that cannot be written protects nothing but harms nothing either. */
async function writeEpoch(file: string, epoch: number): Promise<void> {
  try {
    await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
    const temporary = `${file}.${process.pid}`
    await writeFile(temporary, JSON.stringify({ epoch }), { mode: 0o600 })
    await rename(temporary, file)
  } catch {
    return
  }
}
