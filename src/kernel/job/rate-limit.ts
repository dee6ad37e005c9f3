/**
 * A rate limit: how many attempts of a job may start in a time, over all workers. Starts are spaced by `per / max`; after
 * a quiet time, `burst` of them may come at once. So any stretch of `per` holds at most `max + burst - 1` starts, and
 * with a burst of 1 at most `max`.
 */
import type { Instant } from '../../time/instant.js'
import type { Json } from '../definition/json.js'
import { isMap } from '../definition/read-value.js'
import type { StateKey } from '../state/state-entry.js'
import type { ConcurrencySlot } from '../run/run.js'

/** How many attempts may start in a time. */
export interface RateLimit {
  readonly max: number
  readonly perMs: number
  /** How many may start at once after a quiet time. */
  readonly burst: number
}

/** What a limit has to remember. */
export interface RateState {
  /** When the limit would be as if nothing had ever started. */
  readonly freeAt: Instant
  /** The keys whose runs started last, the newest last. */
  readonly keys: readonly string[]
}

/** How many ready runs of a limited job a claim looks at to let keys take turns. */
export const rateWindow = 64

/** Where the state of a job's limit is kept. */
export function rateKey(job: string): StateKey {
  return { kind: 'rate', name: job, item: '' }
}

/** The state as it was stored. */
export function rateStateOf(value: Json | undefined): RateState {
  const { freeAt, keys } = isMap(value) ? value : {}
  return {
    freeAt: typeof freeAt === 'number' ? freeAt : 0,
    keys: Array.isArray(keys) ? (keys as string[]) : [],
  }
}

/** How many attempts may start now. */
export function startsAt({ max, perMs, burst }: RateLimit, { freeAt }: RateState, now: Instant): number {
  return freeAt <= now ? burst : Math.max(0, burst - Math.ceil(((freeAt - now) * max) / perMs))
}

/** When the next attempt may start. */
export function nextStartAt({ max, perMs, burst }: RateLimit, { freeAt }: RateState): Instant {
  return Math.ceil(freeAt - ((burst - 1) * perMs) / max)
}

/** The state after runs with these keys have started; a run without a key has the empty one. */
export function afterStarts(
  { max, perMs }: RateLimit,
  state: RateState,
  { now, keys }: { readonly now: Instant; readonly keys: readonly string[] },
): RateState {
  const recent = new Set(state.keys)
  for (const key of keys) {
    recent.delete(key)
    recent.add(key)
  }
  return {
    freeAt: Math.max(state.freeAt, now) + (keys.length * perMs) / max,
    keys: [...recent].slice(-rateWindow),
  }
}

/** The key by which a run takes turns with others of its job. */
export function rateTurnOf(job: string, slots: readonly ConcurrencySlot[]): string {
  const own = `key:${job}=`
  return slots.find(({ key }) => key.startsWith(own))?.key.slice(own.length) ?? ''
}

/** Runs in the order in which a limit lets them start: by priority, then in turns of their keys. They come by urgency. */
export function inTurns<Row extends { readonly priority: number }>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  { keys }: RateState,
): Row[] {
  const last = new Map(keys.map((key, place) => [key, place]))
  const seen = new Map<string, number>()
  const placed = rows.map((row, place) => {
    const key = keyOf(row)
    // Of one key and priority, the first of each goes in the first round, the second in the second.
    const group = `${row.priority} ${key}`
    const round = seen.get(group) ?? 0
    seen.set(group, round + 1)
    return { row, round, last: last.get(key) ?? -1, place }
  })
  return placed
    .toSorted(
      (a, b) => b.row.priority - a.row.priority || a.round - b.round || a.last - b.last || a.place - b.place,
    )
    .map(({ row }) => row)
}
