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

/** The rate limits that hold for the runs of a job. */
export interface JobRates {
  /** That of its queue, which all jobs of the queue share. */
  readonly queue?: RateLimit | undefined
  readonly job?: RateLimit | undefined
  /** That of each concurrency key. */
  readonly key?: RateLimit | undefined
}

/** What a limit has to remember. */
export interface RateState {
  /** When the limit would be as if nothing had ever started. */
  readonly freeAt: Instant
  /** Whose runs started last, the newest last. */
  readonly turns: readonly string[]
  /** When it was last changed, by the clock of the process that did. */
  readonly at?: Instant | undefined
}

/** The limits of a job; undefined where it has none. */
export function ratesOf(
  job: { readonly limit?: RateLimit | undefined; readonly limitPerKey?: RateLimit | undefined },
  queue: { readonly limit?: RateLimit | undefined } | undefined,
): JobRates | undefined {
  const [ofQueue, ofJob, ofKey] = [queue?.limit, job.limit, job.limitPerKey]
  if (ofQueue === undefined && ofJob === undefined && ofKey === undefined) return undefined
  return { queue: ofQueue, job: ofJob, key: ofKey }
}

/** Where the state of a limit is kept: that of a queue, of a job, or of one concurrency key of a job. */
export function rateEntry(of: keyof JobRates, name: string, key = ''): StateKey {
  return { kind: 'rate', name: `${of}:${name}`, item: key }
}

/** The state as it was stored. */
export function rateStateOf(value: Json | undefined): RateState {
  const { freeAt, turns, at } = isMap(value) ? value : {}
  return {
    freeAt: typeof freeAt === 'number' ? freeAt : 0,
    turns: Array.isArray(turns) ? (turns as string[]) : [],
    at: typeof at === 'number' ? at : undefined,
  }
}

/** The state as it is stored. */
export function storedRate({ freeAt, turns, at }: RateState): Json {
  return {
    freeAt,
    ...(turns.length === 0 ? {} : { turns: [...turns] }),
    ...(at === undefined ? {} : { at }),
  }
}

/** A claim reads the clock and then waits for its transaction, while others come before it: so it may be this late. */
const longestLagMs = 10_000

/**
 * The state as it can be now. Where it says more, it was remembered under another limit, or the clock was set back since:
 * then it counts as used up from now on, so nobody waits longer than the limit says. Whoever finds that writes it down.
 * A claim that is only a moment behind the last one must not: it would take back what that one has used up.
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

/** The instant to remember after so many have started. */
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

/** The part of a start by which sums of fractions may be wrong. */
const rounding = 1e-6
