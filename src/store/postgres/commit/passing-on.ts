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
 * Why no wake-up is lost: a run waits only if a transaction with the lock read that the limit is reached, and the count
 * becomes smaller only in a transaction with the lock that found no run that waits. Such a transaction waits for locked rows
 * instead of skipping them: a turn that has locked a row may be rolled back, and its run still waits then.
 *
 * Why there is no deadlock: a turn without the lock of a slot never waits for one after it has locked the row of a waiting
 * run. After these rows, all transactions only wait for queues by name and for the row of the store, as before.
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

/** How many turns take the lock after a turn without it failed; doubled each time, up to the maximum. */
const firstRest = 1
const longestRest = 64

/**
 * At which limits the next turn may do without the lock. It is tried while the last turn found a run for each one that
 * ended, and less often each time it fails.
 */
export class PassingOn {
  readonly #known = new Map<string, { isFilled: boolean; rest: number; left: number }>()

  /** Whether the next turn tries it. */
  mayTry({ name }: SharedLimit): boolean {
    const known = this.#known.get(name)
    return known?.isFilled === true && known.left === 0
  }

  /** Notes a committed turn, and whether another run followed each one that ended. */
  committed({ name }: SharedLimit, { isFilled, passedOn }: { isFilled: boolean; passedOn: boolean }): void {
    const known = this.#known.get(name)
    if (passedOn || known === undefined) {
      this.#known.set(name, { isFilled, rest: firstRest, left: 0 })
      return
    }
    known.isFilled = isFilled
    known.left = Math.max(0, known.left - 1)
  }

  /** Notes that a turn without the lock was rolled back. */
  failed({ name }: SharedLimit): void {
    const rest = this.#known.get(name)?.rest ?? firstRest
    this.#known.set(name, { isFilled: false, rest: Math.min(longestRest, 2 * rest), left: rest })
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
