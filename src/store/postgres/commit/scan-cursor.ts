import type { Instant } from '../../../time/instant.js'

/** Where the ready runs of a job begin in the index, for one priority: before it are only claimed runs. */
export interface Position {
  readonly priority: number
  readonly runAt: Instant
}

/** A scan that passes so many dead index entries has met entries that the server cannot remove yet. */
const manyPassed = 500

/** For how long scans then start at the positions, for each passed entry: full scans take a few percent of the time. */
const restMsEach = 0.1

const longestRestMs = 60_000

/** How far before a position a scan starts: the clocks of processes that record runs differ. */
const slackMs = 1000

/** The result of a scan. */
export interface Look {
  readonly jobs: readonly string[]
  /** How many dead entries were passed. */
  readonly passed: number
  /** The first run of each job that has one, claimed or not. */
  readonly firsts: readonly { readonly job: string; readonly priority: number; readonly run_at: Instant }[]
  readonly now: Instant
}

/**
 * Where the ready runs begin in the index. While any transaction is open, the server keeps the entries of runs that were
 * claimed since, so every full scan takes longer than the one before. After a long scan, the next ones start at the first
 * run that it found. Runs that are recorded later for an earlier time are rare, and the next full scan finds them. Runs of
 * other priorities are elsewhere in the index, and every scan finds them.
 */
export class ScanCursors {
  readonly #known = new Map<string, Position>()
  #fullAgainAt: Instant = 0

  /** Where the scan of a job starts now; undefined: at its beginning. */
  of(job: string, now: Instant): Position | undefined {
    return now < this.#fullAgainAt ? this.#known.get(job) : undefined
  }

  /** When it is looked from the beginning again; undefined where that is done now. */
  fullAt(now: Instant): Instant | undefined {
    return now < this.#fullAgainAt && this.#known.size > 0 ? this.#fullAgainAt : undefined
  }

  note({ jobs, passed, firsts, now }: Look): void {
    if (now < this.#fullAgainAt) return
    if (passed < manyPassed) return this.#known.clear()
    this.#fullAgainAt = now + Math.min(longestRestMs, passed * restMsEach)
    const found = new Map(firsts.map((first) => [first.job, first]))
    for (const job of jobs) {
      const first = found.get(job)
      const priority = first?.priority ?? this.#known.get(job)?.priority ?? 0
      this.#known.set(job, { priority, runAt: (first?.run_at ?? now) - slackMs })
    }
  }
}
