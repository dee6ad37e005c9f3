/**
 * A rate limit: how many attempts may start in a period, over all workers. Starts are spaced by `per / max`; after a
 * quiet time, `burst` of them may start at once. So any period of `per` has at most `max + burst - 1` starts, and with a
 * burst of 1 at most `max`. Only one instant has to be remembered.
 */
import type { Instant } from '../../time/instant.js'
import type { Json } from '../definition/json.js'
import { isMap } from '../definition/read-value.js'
import type { StateKey } from '../state/state-entry.js'

/** How many attempts may start in a period. */
export interface RateLimit {
  readonly max: number
  readonly perMs: number
  /** How many may start at once after a quiet time. */
  readonly burst: number
}

/** The rate limits of the runs of a job. */
export interface JobRates {
  /** The limit of its queue, shared by all jobs of the queue. */
  readonly queue?: RateLimit | undefined
  readonly job?: RateLimit | undefined
  /** The limit of each concurrency key. */
  readonly key?: RateLimit | undefined
}

/** The stored state of a limit. */
export interface RateState {
  /** When the limit is unused again. */
  readonly freeAt: Instant
  /** The turns (job and concurrency key) of the last started runs, the newest last. */
  readonly turns: readonly string[]
  /** When it was last changed, by the clock of the process that changed it. */
  readonly at?: Instant | undefined
}

/** The limits of a job; undefined if it has none. */
export function ratesOf(
  job: { readonly limit?: RateLimit | undefined; readonly limitPerKey?: RateLimit | undefined },
  queue: { readonly limit?: RateLimit | undefined } | undefined,
): JobRates | undefined {
  const [ofQueue, ofJob, ofKey] = [queue?.limit, job.limit, job.limitPerKey]
  if (ofQueue === undefined && ofJob === undefined && ofKey === undefined) return undefined
  return { queue: ofQueue, job: ofJob, key: ofKey }
}

/** The key of the state entry of a limit: of a queue, of a job, or of one concurrency key of a job. */
export function rateEntry(of: keyof JobRates, name: string, key = ''): StateKey {
  return { kind: 'rate', name: `${of}:${name}`, item: key }
}

/** Reads the stored state. */
export function rateStateOf(value: Json | undefined): RateState {
  const { freeAt, turns, at } = isMap(value) ? value : {}
  return {
    freeAt: typeof freeAt === 'number' ? freeAt : 0,
    turns: Array.isArray(turns) ? (turns as string[]) : [],
    at: typeof at === 'number' ? at : undefined,
  }
}

/** The state in its stored form. */
export function storedRate({ freeAt, turns, at }: RateState): Json {
  return {
    freeAt,
    ...(turns.length === 0 ? {} : { turns: [...turns] }),
    ...(at === undefined ? {} : { at }),
  }
}

/** A claim reads the clock, then waits for its transaction while others overtake it, so its `now` may be this old. */
const longestLagMs = 10_000

/**
 * The state, limited to what is possible now. A larger `freeAt` was stored under another limit, or the clock was set
 * back since: then the limit counts as used up from now on, so that no run waits longer than the limit says, and the
 * claim stores the correction. A claim whose `now` is only slightly older than the last one must not correct it: that
 * would free what the last one used.
 */
export function possibleState(limit: RateLimit, state: RateState, now: Instant): RateState {
  const { freeAt, at = now } = state
  const sinceAt = at > now && at - now <= longestLagMs ? at : now
  const latest = sinceAt + limit.burst * spacingOf(limit)
  return freeAt <= latest ? state : { ...state, freeAt: latest, at: now }
}

/** How many attempts may start now. */
export function startsAt(limit: RateLimit, { freeAt }: RateState, now: Instant): number {
  const owed = (freeAt - now) / spacingOf(limit)
  return owed <= 0 ? limit.burst : Math.max(0, limit.burst - Math.ceil(owed - rounding))
}

/** When the next attempt may start. */
export function nextStartAt(limit: RateLimit, { freeAt }: RateState): Instant {
  return Math.ceil(freeAt - (limit.burst - 1) * spacingOf(limit))
}

/** The new `freeAt` after so many starts. */
export function afterStarts(
  limit: RateLimit,
  { freeAt }: RateState,
  { now, count }: { readonly now: Instant; readonly count: number },
): Instant {
  return Math.max(freeAt, now) + count * spacingOf(limit)
}

/** The time between two starts. */
export function spacingOf({ max, perMs }: RateLimit): number {
  return perMs / max
}

/** Sums of fractions may be wrong by this part of a start. */
const rounding = 1e-6
