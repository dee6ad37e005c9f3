import type { Instant } from '../../../time/instant.js'

/** From where on the ready runs of a job lie, among those of one priority: what lies before it was taken. */
export interface Position {
  readonly priority: number
  readonly runAt: Instant
}

/** A look that passes so many entries of the index without finding a run in them has met what cannot be cleared away yet. */
const manyPassed = 500

/** How long it is then looked from the positions only, for each entry that was passed: so that full looks take a few percent. */
const restMsEach = 0.1

const longestRestMs = 60_000

/** How far before a position it is looked: the clocks of those who record runs differ. */
const slackMs = 1000

/** What a look came to. */
export interface Look {
  readonly jobs: readonly string[]
  /** How many entries were passed in which there was no run. */
  readonly passed: number
  /** The first run of each job that has any, taken or not. */
  readonly firsts: readonly { readonly job: string; readonly priority: number; readonly run_at: Instant }[]
  readonly now: Instant
}

/**
 * Where the ready runs begin. While somebody holds a transaction open, the server keeps what was claimed since in the
 * index of what is ready, and every look through all of it takes longer than the one before. So after a long one it is
 * looked from the first run on that was found there. What was recorded since for an earlier time, which is rare, is found
 * by the next full look; more and less urgent runs lie elsewhere and are found by every look.
 */
export class ScanCursors {
  readonly #known = new Map<string, Position>()
  #fullAgainAt: Instant = 0

  /** From where on a job is to be looked at now; nothing means: from its beginning. */
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
