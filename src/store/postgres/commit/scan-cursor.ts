import type { Instant } from '../../../time/instant.js'

/** Where the waiting runs of a job or slot begin in the index, for one priority: before it are only claimed runs. */
export interface Position {
  readonly priority: number
  readonly runAt: Instant
  readonly seq: number
}

/** From this cost on, the next scans start at the positions. A dead entry costs 1, a page of the index 8. */
const manyPassed = 500

/** For how long scans then start at the positions, for each unit of the cost: full scans take a few percent of the time. */
const restMsEach = 0.1

const longestRestMs = 60_000

/**
 * How far before a run a scan starts if the run is younger than this, because others of the same moment may be committed
 * later; and if the next full scan is further away than this, because the clocks of processes differ.
 */
const slackMs = 1000

/** The first run of a job in the index. */
interface First {
  readonly job: string
  readonly priority: number
  readonly run_at: Instant
  readonly seq: number
}

/** The result of a scan. */
export interface Look {
  readonly jobs: readonly string[]
  /** The cost of the entries and pages that it passed in vain. */
  readonly passed: number
  /** The first run of each job that has one, claimed or not. */
  readonly firsts: readonly First[]
  readonly now: Instant
}

/**
 * Where runs begin in an index, by job or slot. Entries of runs that were claimed since stay in the index: until the next
 * vacuum removes their pages, and while any transaction is open not even that helps. So every full scan takes longer than
 * the one before. After a long scan, the next ones start at the first run that it found. Runs that are recorded later for
 * an earlier time are rare, and the next full scan finds them. Runs of other priorities are elsewhere in the index, and
 * every scan finds them.
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
    const restMs = Math.min(longestRestMs, passed * restMsEach)
    this.#fullAgainAt = now + restMs
    const found = new Map(firsts.map((first) => [first.job, first]))
    for (const job of jobs) {
      const first = found.get(job)
      const priority = first?.priority ?? this.#known.get(job)?.priority ?? 0
      if (first !== undefined && restMs <= slackMs && first.run_at <= now - slackMs)
        this.#known.set(job, { priority, runAt: first.run_at, seq: first.seq })
      else this.#known.set(job, { priority, runAt: (first?.run_at ?? now) - slackMs, seq: 0 })
    }
  }
}
