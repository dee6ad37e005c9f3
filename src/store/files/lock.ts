import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Clock } from '../../time/clock.js'

/** How long the lock is waited for before those who wait are refused. */
const busyLimitMs = 30_000

/** How long whoever waits pauses between two tries: whoever has waited for longer tries more often. */
const pauses = [
  { untilMs: 8, pauseMs: 1 },
  { untilMs: 250, pauseMs: 8 },
  { untilMs: 1000, pauseMs: 5 },
  { untilMs: Infinity, pauseMs: 3 },
]

/** How long whoever held the lock leaves it to those who wait for it. */
const yieldMs = 10

/** Whoever comes later than this after its last turn has left the lock to others already. */
const freshMs = 100

/** How often whoever takes one short turn after the other looks whether somebody waits. */
const lookEveryMs = 5

const BUSY = 5

/**
 * The lock of a directory: a small SQLite file held exclusively. The system frees it when its holder dies, which no
 * file that merely exists can promise. Nothing else may open that file in this process: closing it would free the lock.
 *
 * It is fair enough that nobody starves: those who wait hold a second file together. Whoever has just held the lock and
 * wants it again looks whether anybody holds that one, and if so lets the others go first. What this process wants
 * meanwhile is done together in its next turn.
 */
export class DirectoryLock {
  readonly #lock: LockFile
  readonly #waiting: LockFile | undefined
  readonly #clock: Clock
  readonly #url: string
  #releasedMs = -Infinity
  #lookedMs = -Infinity
  /** How many wait in this process, and whether others can see that. */
  #waiters = 0
  #isSeen = false

  /** Without a file for those who wait, whoever comes first is first. */
  constructor(options: { path: string; waitingPath?: string | undefined; clock: Clock; url: string }) {
    this.#lock = new LockFile(options.path)
    this.#waiting = options.waitingPath === undefined ? undefined : new LockFile(options.waitingPath)
    this.#clock = options.clock
    this.#url = options.url
  }

  /** Does something while nobody else holds the lock. Waits for it on the clock: the event loop goes on. */
  async hold<T>(act: () => T, limitMs: number = busyLimitMs): Promise<T> {
    await this.#acquire(limitMs)
    try {
      return act()
    } finally {
      this.#release()
    }
  }

  /** Does something that takes its time while nobody else holds the lock. */
  async holdThroughout<T>(act: () => Promise<T>): Promise<T> {
    await this.#acquire(busyLimitMs)
    try {
      return await act()
    } finally {
      this.#release()
    }
  }

  close(): void {
    this.#lock.close()
    this.#waiting?.close()
  }

  async #acquire(limitMs: number): Promise<void> {
    const startMs = this.#clock.monotonicMs()
    if (this.#isGreedy(startMs) && this.#try(() => this.#isWaitedFor())) await this.#clock.sleep(yieldMs)
    if (this.#try(() => this.#lock.take())) return
    this.#waiters += 1
    try {
      do {
        this.#isSeen ||= this.#try(() => this.#waiting?.share() ?? false)
        const waitedMs = this.#clock.monotonicMs() - startMs
        if (waitedMs >= limitMs) throw this.#busy(waitedMs)
        await this.#clock.sleep(pauses.find(({ untilMs }) => waitedMs < untilMs)?.pauseMs ?? 1)
      } while (!this.#try(() => this.#lock.take()))
    } finally {
      this.#leave()
    }
  }

  #leave(): void {
    this.#waiters -= 1
    if (this.#waiters > 0 || !this.#isSeen) return
    this.#waiting?.free()
    this.#isSeen = false
  }

  #release(): void {
    this.#lock.free()
    this.#releasedMs = this.#clock.monotonicMs()
  }

  /** Whether it is time to look for others before another turn. */
  #isGreedy(nowMs: number): boolean {
    if (nowMs - this.#releasedMs > freshMs || nowMs - this.#lookedMs < lookEveryMs) return false
    this.#lookedMs = nowMs
    return true
  }

  #isWaitedFor(): boolean {
    if (this.#waiting === undefined) return false
    if (this.#isSeen || !this.#waiting.take()) return true
    this.#waiting.free()
    return false
  }

  #try(act: () => boolean): boolean {
    try {
      return act()
    } catch (error) {
      throw new RotaError('STORE_IO', `${this.#url}: the lock of the directory cannot be used`, {
        cause: error,
      })
    }
  }

  #busy(waitedMs: number): RotaError {
    const message = `${this.#url}: another process held the store for ${Math.round(waitedMs)} ms`
    return new RotaError('STORE_BUSY', message)
  }
}

/** A SQLite file of which nothing but the lock is used. Nothing is ever written to it. */
class LockFile {
  readonly #db: DatabaseSyncInstance
  #isPrepared = false

  constructor(path: string) {
    this.#db = new DatabaseSync(path, { timeout: 0 })
  }

  /** Takes it alone; false where another one has it. */
  take(): boolean {
    return this.#unlessBusy(() => this.#db.exec('begin exclusive'))
  }

  /** Takes it together with others; false where another one has it alone. */
  share(): boolean {
    return this.#unlessBusy(() => {
      this.#db.exec('begin')
      try {
        // A transaction takes its lock with the first thing that it reads.
        this.#db.exec('select 1 from sqlite_master')
      } catch (error) {
        this.#db.exec('rollback')
        throw error
      }
    })
  }

  free(): void {
    this.#db.exec('rollback')
  }

  close(): void {
    this.#db.close()
  }

  #unlessBusy(act: () => void): boolean {
    try {
      this.#prepare()
      act()
      return true
    } catch (error) {
      if (error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === BUSY)
        return false
      throw error
    }
  }

  /** Lets SQLite keep its rollback journal in memory: with a file for it, the lock could not be taken on a full disk. */
  #prepare(): void {
    if (this.#isPrepared) return
    this.#db.exec('pragma journal_mode = memory')
    this.#isPrepared = true
  }
}
