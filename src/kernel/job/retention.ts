import { MAX_DURATION_MS } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'
import { within, type Place } from '../definition/faults.js'
import { isMap, readDuration, readOptions, readWhole } from '../definition/read-value.js'
import type { RunId } from '../identity/identity.js'
import type { FinalState } from '../run/run.js'

/** How long a job keeps its final runs, by how they ended. */
export interface RetentionOptions {
  /** Of runs that were done; default: the `retention` of the app. */
  readonly done?: string | number | KeptOptions | undefined
  /** Of runs that failed; default: the `retention` of the app. */
  readonly failed?: string | number | KeptOptions | undefined
  /** Of runs that were cancelled; default: the `retention` of the app. */
  readonly cancelled?: string | number | KeptOptions | undefined
}

/** How long runs are kept, and how many of them; the limit that is reached first counts. */
export interface KeptOptions {
  /** How long, at least `1m`; default: the `retention` of the app. */
  readonly age?: string | number | undefined
  /** How many, the newest first; default: any number. @minimum 1 @maximum 1000000000 */
  readonly count?: number | undefined
}

/** The retention of a job by final state; absent: the retention of the app. */
export type JobRetention = Readonly<Partial<Record<FinalState, Kept>>>

/** How long runs are kept, and how many. */
export interface Kept {
  readonly ageMs?: number | undefined
  readonly count?: number | undefined
}

/** The fields of a final run that retention needs. */
export interface EndedRun {
  readonly id: RunId
  readonly job: string
  readonly state: FinalState
  readonly finishedAt: Instant
}

/** The final states of a run. */
export const finalStates = ['done', 'failed', 'cancelled'] as const satisfies readonly FinalState[]

/** The shortest and the longest retention. */
export const retentionBounds = { min: 60_000, max: MAX_DURATION_MS, allowed: 'from 1m to 36525d' }

/** Reads the retention of a job: one for all its runs, or one for each final state. */
export function readJobRetention(value: unknown, place: Place): { readonly retention?: JobRetention } {
  if (value === undefined) return {}
  if (!isMap(value)) {
    const ageMs = readDuration(value, retentionBounds, place)
    return ageMs === undefined
      ? {}
      : { retention: { done: { ageMs }, failed: { ageMs }, cancelled: { ageMs } } }
  }
  const input = readOptions(value, finalStates, place)
  const entries = finalStates.flatMap((state) => {
    const written = input?.[state]
    return written === undefined ? [] : [[state, readKept(written, within(place, state))] as const]
  })
  return entries.length === 0 ? {} : { retention: Object.fromEntries(entries) }
}

function readKept(value: unknown, place: Place): Kept {
  if (!isMap(value)) return { ageMs: readDuration(value, retentionBounds, place) }
  const input = readOptions(value, ['age', 'count'], place)
  const ageMs = readDuration(input?.['age'], retentionBounds, within(place, 'age'))
  const count = readWhole(input?.['count'], { min: 1, max: 1_000_000_000 }, within(place, 'count'))
  return { ...(ageMs === undefined ? {} : { ageMs }), ...(count === undefined ? {} : { count }) }
}

/** Decides which final runs have been kept long enough. It must get all of them, the newest first, to count them. */
export class KeptRuns {
  readonly #rules: ReadonlyMap<string, JobRetention>
  readonly #defaultMs: number
  readonly #now: Instant
  readonly #seen = new Map<string, number>()

  constructor(given: {
    /** The retention of jobs that have their own, by their names. */
    readonly rules: ReadonlyMap<string, JobRetention>
    /** The retention of all others. */
    readonly defaultMs: number
    readonly now: Instant
  }) {
    this.#rules = given.rules
    this.#defaultMs = given.defaultMs
    this.#now = given.now
  }

  /** Whether the next run, which ended before all previous ones, is no longer kept. */
  isOver({ job, state, finishedAt }: EndedRun): boolean {
    const { ageMs = this.#defaultMs, count = Infinity } = this.#rules.get(job)?.[state] ?? {}
    if (finishedAt < this.#now - ageMs) return true
    if (count === Infinity) return false
    const key = `${state} ${job}`
    const seen = (this.#seen.get(key) ?? 0) + 1
    this.#seen.set(key, seen)
    return seen > count
  }
}
