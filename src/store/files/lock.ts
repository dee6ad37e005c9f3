import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { RotaError } from '../../model/errors.js'
import type { Clock } from '../../time/clock.js'

/** How long the lock is waited for before those who wait are refused. */
const busyLimitMs = 30_000

const longestPauseMs = 25

const BUSY = 5

/**
 * The lock of a directory: a small SQLite file held exclusively. The system frees it when its holder dies, which no
 * file that merely exists can promise. Nothing else may open that file in this process: closing it would free the lock.
 */
export class DirectoryLock {
  readonly #db: DatabaseSyncInstance
  readonly #clock: Clock
  readonly #url: string
  #isPrepared = false

  constructor(options: { path: string; clock: Clock; url: string }) {
    this.#db = new DatabaseSync(options.path, { timeout: 0 })
    this.#clock = options.clock
    this.#url = options.url
  }

  /** Does something while nobody else holds the lock. Waits for it on the clock: the event loop goes on. */
  async hold<T>(act: () => T): Promise<T> {
    await this.#acquire()
    try {
      return act()
    } finally {
      this.#db.exec('rollback')
    }
  }

  /** Does something that takes its time while nobody else holds the lock. */
  async holdThroughout<T>(act: () => Promise<T>): Promise<T> {
    await this.#acquire()
    try {
      return await act()
    } finally {
      this.#db.exec('rollback')
    }
  }

  async #acquire(): Promise<void> {
    const startMs = this.#clock.monotonicMs()
    for (let pauseMs = 1; !this.#take(); pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const waitedMs = this.#clock.monotonicMs() - startMs
      if (waitedMs >= busyLimitMs) {
        const message = `${this.#url}: another process held the store for ${Math.round(waitedMs)} ms`
        throw new RotaError('STORE_BUSY', message)
      }
      await this.#clock.sleep(pauseMs)
    }
  }

  close(): void {
    this.#db.close()
  }

  #take(): boolean {
    try {
      this.#prepare()
      this.#db.exec('begin exclusive')
      return true
    } catch (error) {
      if (error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === BUSY)
        return false
      throw new RotaError('STORE_IO', `${this.#url}: the lock of the directory cannot be used`, {
        cause: error,
      })
    }
  }

  /** Lets SQLite keep its rollback journal in memory: with a file for it, the lock could not be taken on a full disk. */
  #prepare(): void {
    if (this.#isPrepared) return
    this.#db.exec('pragma journal_mode = memory')
    this.#isPrepared = true
  }
}
