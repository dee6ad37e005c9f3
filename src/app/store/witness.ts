import { statSync } from 'node:fs'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import { isOnManyHosts } from '../../formats/store-url.js'
import { type Durability } from './open-store.js'
import { bootOfMachine, readSeen, wasSeenAt, WitnessFile, type Progress, type Seen } from './witness-file.js'

const everyMs = 60_000

/** A database may be replaced by an older one while it is in use. */
const manyHostsEveryMs = 10_000

/** How long the last look may take. */
const lastLookMs = 1000

/** By then the system has written everything to disk that it was given, asked for it or not. */
const settledAfterMs = 10 * 60_000

/**
 * Remembers, outside the store, how far this host has seen it come: with every commit where the store counts them,
 * else by its epoch once a minute. A store that is behind went back in time: a backup was restored, a file was damaged
 * or a failover lost commits, and runs that were done would be done again without a word.
 */
export class Witness {
  readonly #options: WitnessOptions
  readonly #file: WitnessFile
  readonly #boot = bootOfMachine()
  #wentBack: RotaError | undefined
  #seen: Progress
  #settled: Progress
  #settling: Progress & { readonly sinceMs: number }
  #isWritten = false
  #isRefused = false
  #cancelTimer: (() => void) | undefined

  private constructor(options: WitnessOptions, found: { id: string; progress: Progress; settled: Progress }) {
    this.#options = options
    this.#file = new WitnessFile({ id: found.id, place: placeOf(options.store.url) })
    this.#seen = found.progress
    this.#settled = found.settled
    this.#settling = { ...found.progress, sinceMs: options.clock.monotonicMs() }
  }

  /** Compares the store with what was seen before. Writes nothing yet: who only reads leaves no trace. */
  static async open(options: WitnessOptions): Promise<Witness | undefined> {
    const { store, clock } = options
    if (store.url.startsWith('memory:')) return undefined
    const first = await store.health({ now: clock.now() })
    const seen = readSeen({ id: first.id, place: placeOf(store.url) })
    const boot = bootOfMachine()
    const least = seen.map((one) => stillThere(one, boot))
    const isInDoubt = least.some((one) => isBehind(first, one))
    // Others may have written to the store and to the witness since it was looked at.
    const { id, epoch, commit } = isInDoubt ? await store.health({ now: clock.now() }) : first
    const progress = { epoch, commit }
    const witness = new Witness(options, { id, progress, settled: seen[0]?.settled ?? nothing })
    const ahead = least.find((one) => isBehind(progress, one))
    if (ahead !== undefined) witness.#wentBack = wentBack(store, { progress, seen: ahead })
    return witness
  }

  /** Why nothing may be written to the store until somebody accepts what it has become. */
  get wentBack(): RotaError | undefined {
    return this.#wentBack
  }

  /** What is wrong where nothing can be remembered beyond the end of this process. */
  get trouble(): string | undefined {
    const { trouble } = this.#file
    if (trouble === undefined) return undefined
    return `this host cannot remember how far the store has come (${trouble}), so a store that went back in time is noticed only while this process runs; set XDG_STATE_HOME to a directory that it may write to`
  }

  /** Goes on from what the store has become. */
  accept(): void {
    this.#wentBack = undefined
    this.#settled = nothing
    this.#write()
  }

  /** Lets nobody on this host write to this store until somebody accepts what it has become. */
  refuse(): void {
    if (this.#isRefused) return
    this.#seen = { ...this.#seen, epoch: Number.MAX_SAFE_INTEGER }
    this.#settled = this.#seen
    this.#write()
    this.#isRefused = true
  }

  /** Remembers a commit of this process. */
  see(commit: number): void {
    this.#seen = { epoch: this.#seen.epoch, commit }
    // Every commit comes along here, so that most of them only write over one number.
    if (this.#isWritten && !this.#isRefused) this.#file.writeCommit(commit)
    else this.#write()
  }

  /** Looks at the store from time to time, and remembers what it sees. */
  watch(): void {
    this.#write()
    this.#arm()
  }

  /** Looks at the store once more, and no more then. */
  async unwatch(): Promise<void> {
    if (this.#cancelTimer === undefined) return
    this.#cancelTimer()
    this.#cancelTimer = undefined
    const over = new AbortController()
    const look = this.#look().catch(() => undefined)
    await Promise.race([look, this.#options.clock.sleep(lastLookMs, over.signal)])
    over.abort()
  }

  close(): void {
    this.#file.close()
  }

  #arm(): void {
    const { store, clock } = this.#options
    const ms = isOnManyHosts(store.url) ? manyHostsEveryMs : everyMs
    this.#cancelTimer = clock.timer(ms, () => void this.#lookAgain())
  }

  async #lookAgain(): Promise<void> {
    await this.#look().catch(() => undefined)
    if (this.#cancelTimer !== undefined) this.#arm()
  }

  async #look(): Promise<void> {
    const { store, clock, onWentBack } = this.#options
    const before = this.#seen
    const { epoch, commit } = await store.health({ now: clock.now() })
    if (this.#isRefused) return
    if (isBehind({ epoch, commit }, before)) {
      this.refuse()
      onWentBack(wentBack(store, { progress: { epoch, commit }, seen: before }))
      return
    }
    // A commit of this process may have been seen meanwhile.
    this.#seen = { epoch, commit: isLater(this.#seen.commit, commit) ? this.#seen.commit : commit }
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#settling.sinceMs >= settledAfterMs) {
      this.#settled = this.#settling
      this.#settling = { ...this.#seen, sinceMs: nowMs }
    }
    this.#write()
  }

  #write(): void {
    if (this.#isRefused || this.#wentBack !== undefined) return
    const { store, durability } = this.#options
    const isLasting = durability === 'full' || isOnManyHosts(store.url)
    const { epoch, commit } = this.#settled
    this.#file.write({ ...this.#seen, isLasting, boot: this.#boot, settled: { epoch, commit } })
    this.#isWritten = true
  }
}

/** What a witness watches, and whom it tells. */
export interface WitnessOptions {
  readonly store: Store
  readonly clock: Clock
  readonly durability: Durability
  /** The store went back while it was in use. */
  readonly onWentBack: (error: RotaError) => void
}

/**
 * Refuses a file without a byte where this host has seen a store: it would be taken for a new one. A store that
 * somebody removed on purpose has left no file.
 */
export function assertNotEmptied(url: string): void {
  if (!url.startsWith('sqlite:')) return
  const path = url.slice('sqlite:'.length)
  if (sizeOf(path) !== 0 || !wasSeenAt(placeOf(url))) return
  throw new RotaError(
    'STORE_CORRUPT',
    `${url}: ${path} is empty, but this host has seen a store there; restore a backup, or remove the file to begin anew`,
  )
}

function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size
  } catch {
    return undefined
  }
}

const nothing: Progress = { epoch: 0, commit: undefined }

/** What of it must be in the store now: a loss of power may have taken the last commits where nobody waited for the disk. */
function stillThere(seen: Seen, boot: string): Progress {
  const isSameBoot = boot !== '' && seen.boot === boot
  return seen.isLasting || isSameBoot ? seen : seen.settled
}

function isBehind(progress: Progress, seen: Progress): boolean {
  return progress.epoch < seen.epoch || isLater(seen.commit, progress.commit)
}

/** Whether one number of a commit comes after another; both wrap at 32 bits. */
function isLater(commit: number | undefined, other: number | undefined): boolean {
  return commit !== undefined && other !== undefined && ((commit - other) | 0) > 0
}

/** A copy in another place goes its own way; a database is one, by whatever address it is reached. */
function placeOf(url: string): string {
  return isOnManyHosts(url) ? '' : url
}

function wentBack(store: Store, { progress, seen }: { progress: Progress; seen: Progress }): RotaError {
  const message = `${store.url} is at ${inWords(progress)}, but this host has seen ${inWords(seen)}`
  const cause = 'was a backup restored, or the file or the -wal file beside it damaged?'
  return new RotaError('STORE_WENT_BACK', `${message}: ${cause} \`rota up --accept-store\` goes on from here`)
}

function inWords({ epoch, commit }: Progress): string {
  return commit === undefined ? `epoch ${epoch}` : `epoch ${epoch}, commit ${commit}`
}
