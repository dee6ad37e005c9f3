import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { RotaError } from '../model/errors.js'
import type { Store } from '../store/store.js'
import type { Clock } from '../time/clock.js'

const everyMs = 60_000

/**
 * Remembers, outside the store, the highest epoch this host has seen. A store with a lower one went back in time: a
 * backup was restored or a failover lost commits, and runs that were done would be done again without a word.
 */
export class Witness {
  readonly #file: string
  readonly #store: Store
  readonly #clock: Clock
  #epoch: number
  #cancelTimer: () => void

  private constructor(input: { file: string; store: Store; clock: Clock; epoch: number }) {
    this.#file = input.file
    this.#store = input.store
    this.#clock = input.clock
    this.#epoch = input.epoch
    this.#cancelTimer = this.#clock.timer(everyMs, () => void this.#watch())
  }

  /** Compares the store with what was seen before; throws where it went back, unless that is accepted. */
  static async open(store: Store, clock: Clock, options: { accept: boolean }): Promise<Witness | undefined> {
    if (store.url.startsWith('memory:')) return undefined
    const { id, epoch } = await store.health({ now: clock.now() })
    const file = fileFor(id)
    const seen = await readEpoch(file)
    if (seen > epoch && !options.accept) {
      throw new RotaError(
        'STORE_WENT_BACK',
        `${store.url} is at epoch ${epoch}, but this host has seen ${seen}: was a backup restored? Start with --accept-store to go on from here`,
      )
    }
    await writeEpoch(file, epoch)
    return new Witness({ file, store, clock, epoch })
  }

  async close(): Promise<void> {
    this.#cancelTimer()
    await this.#note().catch(() => undefined)
  }

  async #watch(): Promise<void> {
    await this.#note().catch(() => undefined)
    this.#cancelTimer = this.#clock.timer(everyMs, () => void this.#watch())
  }

  async #note(): Promise<void> {
    const { epoch } = await this.#store.health({ now: this.#clock.now() })
    if (epoch <= this.#epoch) return
    this.#epoch = epoch
    await writeEpoch(this.#file, epoch)
  }
}

function fileFor(id: string): string {
  const state = process.env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state')
  return join(state, 'rota', `${id}.json`)
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
