/*
 * A run that ends leaves room at its job limit or in its limited queue. Usually the turn that ends it takes the lock of the
 * slot or queue, writes the new count, and admits the runs that wait. While many runs wait, the count never changes: each
 * run that ends is followed by another one. Such a turn needs no lock. It ends its runs, claims as many others, and leaves
 * the count as it is. So workers with a common limit do not wait for each other.
 *
 * Why no limit is exceeded: the turn is committed only if it claims or admits exactly as many runs as it ends, and only if
 * the stored count equals the limit. The definitions cannot change meanwhile, because the turn holds the shared lock of the
 * schema. If the limit became lower before, the count is above it, and the turn takes the lock.
 *
 * Why no run is given to two: both kinds of turns lock the rows of the runs that they take. A turn without the lock skips
 * rows that are locked. If it does not find enough, it is rolled back and repeated with the lock.
 *
 * Why no wake-up is lost: a run waits at a slot only if a transaction with the lock read that it is full, and the count
 * becomes smaller only in a transaction with the lock that found no run that waits. Such a transaction waits for locked rows
 * instead of skipping them: a turn that has locked a row may be rolled back, and its run still waits then. The runs of a
 * queue are ready, not waiting. Locked ones are skipped as always; if their turn is rolled back, its repetition or the next
 * look finds them.
 *
 * Why there is no deadlock: after a turn without the lock has locked the rows of waiting runs, it waits neither for slots nor
 * for queues. If it also needs a queue that somebody has locked, it is rolled back and repeated with the lock.
 *
 * If the process is killed in between, nothing was committed. Its runs are still running, and become lost as usual.
 */
import type { NewRun } from '../../../kernel/run/run.js'
import type { Turn } from '../../port.js'
import { jobOf, limitedQueueOf, type Catalog } from '../../sql/catalog.js'
import { slotsOf } from '../../sql/rows/run-rows.js'

/** The one limit that all ended runs of a turn counted towards: a job limit, a limited queue, or both. */
export interface SharedLimit {
  /** What it is remembered by. */
  readonly name: string
  /** The job limit; undefined if only the queue is limited. */
  readonly jobLimit: number | undefined
}

/** What is known of a run that ends: its job, and its slots in the form of its row. */
interface EndedRun {
  readonly job: string
  readonly gates: string | null
}

/** How many turns take the lock after a turn without it failed: each failure costs a repeated turn, and a line in the server's log. */
const firstRest = 1
const longestRest = 64

/** The next failure leads to a longer rest, and each success to a shorter one, so that failures stay rare if they alternate. */
const growth = 4

/** At which limits the next turn may do without the lock: where the last turn found a run for each one that ended. */
export class PassingOn {
  readonly #known = new Map<string, { isFilled: boolean; rest: number; left: number }>()

  /** Whether the next turn tries it. */
  mayTry({ name }: SharedLimit): boolean {
    const known = this.#known.get(name)
    return known?.isFilled === true && known.left === 0
  }

  /** Notes a committed turn, and whether another run followed each one that ended. */
  committed({ name }: SharedLimit, { isFilled, passedOn }: { isFilled: boolean; passedOn: boolean }): void {
    const { rest = firstRest, left = 0 } = this.#known.get(name) ?? {}
    const next = passedOn
      ? { rest: Math.max(firstRest, rest / 2), left: 0 }
      : { rest, left: Math.max(0, left - 1) }
    this.#known.set(name, { isFilled, ...next })
  }

  /** Notes that a turn without the lock was rolled back. */
  failed({ name }: SharedLimit): void {
    const { rest = firstRest } = this.#known.get(name) ?? {}
    this.#known.set(name, { isFilled: false, rest: Math.min(longestRest, growth * rest), left: rest })
  }
}

/** The limit that all ended runs share, if it is one and the turn also claims; undefined if the turn needs the locks. */
export function sharedLimitOf(
  { turn, catalog }: { readonly turn: Turn; readonly catalog: Catalog },
  ended: readonly (EndedRun | undefined)[],
  newRuns: readonly NewRun[],
): SharedLimit | undefined {
  const [first] = ended
  const hasNewSlots = newRuns.some(({ slots }) => slots.length > 0)
  if (first === undefined || turn.claimRequest === undefined || hasNewSlots) return undefined
  const { job, gates } = first
  const queue = limitedQueueOf(catalog, job)
  if (gates === null && queue === undefined) return undefined
  const isSame = (claim: EndedRun | undefined): boolean =>
    claim?.gates === gates &&
    (claim.job === job || (gates === null && limitedQueueOf(catalog, claim.job) === queue))
  if (!ended.every(isSame)) return undefined
  if (gates === null) return { name: `queue:${queue}`, jobLimit: undefined }
  const slots = slotsOf(gates)
  const jobLimit = jobOf(catalog, job).concurrency
  const isJobLimit = slots.length === 1 && slots[0]?.key === `job:${job}` && jobLimit !== undefined
  return isJobLimit ? { name: `job:${job}`, jobLimit } : undefined
}
