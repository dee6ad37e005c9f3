import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Clock } from '../../time/clock.js'

/** After this wait for the lock an operation fails. */
const busyLimitMs = 30_000

/** The pause between two tries: the longer a process has waited, the more often it tries. */
const pauses = [
  { untilMs: 8, pauseMs: 1 },
  { untilMs: 250, pauseMs: 8 },
  { untilMs: 1000, pauseMs: 5 },
  { untilMs: Infinity, pauseMs: 3 },
]

/** How long a process that just held the lock leaves it to those who wait. */
const yieldMs = 10

/** A process that comes back later than this has already left the lock to others. */
const freshMs = 100

/** How often a process that takes many short turns checks whether others wait. */
const lookEveryMs = 5

const BUSY = 5

/**
 * The lock of a directory: a small SQLite file that is locked exclusively. The system frees the lock when its holder
 * dies, which a plain lock file cannot promise. Nothing else in this process may open that file: closing it would
 * free the lock.
 *
 * The lock is fair enough that nobody starves: all waiting processes share a second lock file. A process that has
 * just held the lock and wants it again checks whether anybody holds that one, and if so lets the others go first.
 * Its own operations meanwhile are grouped in its next turn.
 */
export class DirectoryLock {
  readonly #lock: LockFile
  readonly #waiting: LockFile | undefined
  readonly #clock: Clock
  readonly #url: string
  #releasedMs = -Infinity
  #lookedMs = -Infinity
  /** How many operations of this process wait, and whether other processes can see that. */
  #waiters = 0
  #isSeen = false

  /** Without a file for waiting processes the lock is not fair. */
  constructor(options: { path: string; waitingPath?: string | undefined; clock: Clock; url: string }) {
    this.#lock = new LockFile(options.path)
    this.#waiting = options.waitingPath === undefined ? undefined : new LockFile(options.waitingPath)
    this.#clock = options.clock
    this.#url = options.url
  }

  /** Runs a function while holding the lock. Waits for it on the clock, without blocking the event loop. */
  async hold<T>(act: () => T, limitMs: number = busyLimitMs): Promise<T> {
    await this.#acquire(limitMs)
    try {
      return act()
    } finally {
      this.#release()
    }
  }

  /** Runs an asynchronous function while holding the lock. */
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
    if (this.#shouldCheckForWaiters(startMs) && this.#try(() => this.#hasWaiters()))
      await this.#clock.sleep(yieldMs)
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

  /** Whether to check for waiting processes before another turn. */
  #shouldCheckForWaiters(nowMs: number): boolean {
    if (nowMs - this.#releasedMs > freshMs || nowMs - this.#lookedMs < lookEveryMs) return false
    this.#lookedMs = nowMs
    return true
  }

  #hasWaiters(): boolean {
    if (this.#waiting === undefined) return false
    if (this.#isSeen || !this.#waiting.take()) return true
    this.#waiting.free()
    return false
  }

  #try(act: () => boolean): boolean {
    try {
      return act()
    } catch (error) {
      throw new RotaError('STORE_IO', `${this.#url}: the lock file of the directory cannot be used`, {
        cause: error,
      })
    }
  }

  #busy(waitedMs: number): RotaError {
    const message = `${this.#url}: another process held the store for ${Math.round(waitedMs)} ms`
    return new RotaError('STORE_BUSY', message)
  }
}

/** A SQLite file that is used only as a lock. Nothing is ever written to it. */
class LockFile {
  readonly #db: DatabaseSyncInstance
  #isPrepared = false
  /** Whether this process has the exclusive lock. */
  #isTaken = false

  constructor(path: string) {
    this.#db = new DatabaseSync(path, { timeout: 0 })
  }

  /** Takes the exclusive lock; returns false if another process or another operation of this process has it. */
  take(): boolean {
    if (this.#isTaken) return false
    this.#isTaken = this.#unlessBusy(() => this.#db.exec('begin exclusive'))
    return this.#isTaken
  }

  /** Takes a shared lock; returns false if another process has the exclusive one. */
  share(): boolean {
    return this.#unlessBusy(() => {
      this.#db.exec('begin')
      try {
        // A transaction takes its lock with its first read.
        this.#db.exec('select 1 from sqlite_master')
      } catch (error) {
        this.#db.exec('rollback')
        throw error
      }
    })
  }

  free(): void {
    this.#isTaken = false
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

  /** Keeps SQLite's rollback journal in memory: with a file the lock could not be taken on a full disk. */
  #prepare(): void {
    if (this.#isPrepared) return
    this.#db.exec('pragma journal_mode = memory')
    this.#isPrepared = true
  }
}
