import { statSync } from 'node:fs'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import { isOnManyHosts } from '../../formats/store-url.js'
import { type Durability } from './open-adapter.js'
import { bootOfMachine, readSeen, wasSeenAt, WitnessFile, type Progress, type Seen } from './witness-file.js'

const everyMs = 60_000

/** How often the store is compared: a database may be replaced by an older one while it is in use. */
const manyHostsEveryMs = 10_000

/** The time limit of the last comparison. */
const lastLookMs = 1000

/** After this time the system has written everything to disk, even without fsync. */
const settledAfterMs = 10 * 60_000

/**
 * Records, outside the store, the progress that this host has seen: with every commit if the store counts them,
 * otherwise by its epoch once a minute. A store that is behind went back in time: a backup was restored, a file was damaged
 * or a failover lost commits, and completed runs would silently be performed again.
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

  /** Compares the store with its recorded progress. Writes nothing yet: a reader leaves no trace. */
  static async open(options: WitnessOptions): Promise<Witness | undefined> {
    const { store, clock } = options
    if (store.url.startsWith('memory:')) return undefined
    const first = await store.health({ now: clock.now() })
    const seen = readSeen({ id: first.id, place: placeOf(store.url) })
    const boot = bootOfMachine()
    const least = seen.map((one) => stillThere(one, boot))
    const isInDoubt = least.some((one) => isBehind(first, one))
    // Others may have written to the store and to the witness since it was read.
    const { id, epoch, commit } = isInDoubt ? await store.health({ now: clock.now() }) : first
    const progress = { epoch, commit }
    const witness = new Witness(options, { id, progress, settled: seen[0]?.settled ?? nothing })
    const ahead = least.find((one) => isBehind(progress, one))
    if (ahead !== undefined) witness.#wentBack = wentBack(store, { progress, seen: ahead })
    return witness
  }

  /** Why the store must not be written until somebody accepts its state. */
  get wentBack(): RotaError | undefined {
    return this.#wentBack
  }

  /** The problem if nothing can be recorded beyond the end of this process. */
  get trouble(): string | undefined {
    const { trouble } = this.#file
    if (trouble === undefined) return undefined
    return `this host cannot record the progress of the store (${trouble}), so a store that went back in time is noticed only while this process runs; set XDG_STATE_HOME to a directory that it may write to`
  }

  /** Accepts the current state of the store. */
  accept(): void {
    this.#wentBack = undefined
    this.#settled = nothing
    this.#write()
  }

  /** Prevents writes of this host to this store until somebody accepts its state. */
  refuse(): void {
    if (this.#isRefused) return
    this.#seen = { ...this.#seen, epoch: Number.MAX_SAFE_INTEGER }
    this.#settled = this.#seen
    this.#write()
    this.#isRefused = true
  }

  /** Records a commit of this process. */
  see(commit: number): void {
    this.#seen = { epoch: this.#seen.epoch, commit }
    // Every commit calls this, so most calls only overwrite one number.
    if (this.#isWritten && !this.#isRefused) this.#file.writeCommit(commit)
    else this.#write()
  }

  /** Reads the store from time to time, and records its progress. */
  watch(): void {
    this.#write()
    this.#arm()
  }

  /** Reads the store once more and stops. */
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
    this.#cancelTimer = clock.timer(ms, () => void this.#lookAgain(), { isPoll: true })
  }

  async #lookAgain(): Promise<void> {
    await this.#look().catch(() => undefined)
    if (this.#cancelTimer !== undefined) this.#arm()
  }

  async #look(): Promise<void> {
    const { store, clock, onWentBack } = this.#options
    const before = this.#seen
    const { epoch, commit } = await progressOf(store, clock)
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
    const isDurable = durability === 'full' || isOnManyHosts(store.url)
    const { epoch, commit } = this.#settled
    this.#file.write({ ...this.#seen, isDurable, boot: this.#boot, settled: { epoch, commit } })
    this.#isWritten = true
  }
}

/** How far a store has come. Health reads much more, and this is asked for as long as a process lives. */
async function progressOf(store: Store, clock: Clock): Promise<Progress> {
  if (store.epoch !== undefined) return { epoch: await store.epoch(), commit: undefined }
  const { epoch, commit } = await store.health({ now: clock.now() })
  return { epoch, commit }
}

/** The options of a witness. */
export interface WitnessOptions {
  readonly store: Store
  readonly clock: Clock
  readonly durability: Durability
  /** The store went back while it was in use. */
  readonly onWentBack: (error: RotaError) => void
}

/**
 * Refuses an empty file where this host has seen a store: it would be used as a new one. A store that
 * was removed on purpose has left no file.
 */
export function assertNotEmptied(url: string): void {
  if (!url.startsWith('sqlite:')) return
  const path = url.slice('sqlite:'.length)
  if (sizeOf(path) !== 0 || !wasSeenAt(placeOf(url))) return
  throw new RotaError(
    'STORE_CORRUPT',
    `${url}: ${path} is empty, but this host has seen a store there; restore a backup, or remove the file to start with a new store`,
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

/** The progress that the store must have: without fsync a power loss may have undone the last commits. */
function stillThere(seen: Seen, boot: string): Progress {
  const isSameBoot = boot !== '' && seen.boot === boot
  return seen.isDurable || isSameBoot ? seen : seen.settled
}

function isBehind(progress: Progress, seen: Progress): boolean {
  return progress.epoch < seen.epoch || isLater(seen.commit, progress.commit)
}

/** Whether one commit number is later than another; both wrap at 32 bits. */
function isLater(commit: number | undefined, other: number | undefined): boolean {
  return commit !== undefined && other !== undefined && ((commit - other) | 0) > 0
}

/** A copy at another location is separate; a database is the same at every address. */
function placeOf(url: string): string {
  return isOnManyHosts(url) ? '' : url
}

function wentBack(store: Store, { progress, seen }: { progress: Progress; seen: Progress }): RotaError {
  const message = `${store.url} is at ${inWords(progress)}, but this host has seen ${inWords(seen)}`
  const cause = 'was a backup restored, or the file or its -wal file damaged?'
  return new RotaError(
    'STORE_WENT_BACK',
    `${message}: ${cause} \`rota up --accept-store\` continues from this state`,
  )
}

function inWords({ epoch, commit }: Progress): string {
  return commit === undefined ? `epoch ${epoch}` : `epoch ${epoch}, commit ${commit}`
}
