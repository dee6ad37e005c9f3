import type { Instant } from '../../time/instant.js'
import type { Json } from '../definition/json.js'

/**
 * What a state entry is about: the open cycle of a round, the result of its last check, the timing of a service, the
 * state of a sensor and its evaluations, the state of a partition, an arrival for a trigger, a one-shot that was
 * executed, the last cleanup, a backfill, a plan that an app lists, a missed plan entry that was enqueued, a process
 * and the functions it has, the clocks of the machine, how far a user has acknowledged the missed instants of a
 * trigger, the ends of a day by hour and job, the dispositions of a trigger's day, an alert notice and its result, the
 * alert rules, a calendar, a deadline, a breach, the state of a rate limit, a request to a process to reload its
 * config, a run whose pings are not all sent, the queues for which a source sets limits, a removal of entries, and the
 * promises of a definition about its last success or its partitions.
 */
export type StateKind =
  | 'cycle'
  | 'check'
  | 'service'
  | 'sensor'
  | 'evaluation'
  | 'partition'
  | 'arrival'
  | 'executed'
  | 'cleanup'
  | 'backfill'
  | 'plan'
  | 'process'
  | 'clock'
  | 'token'
  | 'session'
  | 'request'
  | 'bulk'
  | 'looked'
  | 'rollup'
  | 'coverage'
  | 'alert'
  | 'alert-rules'
  | 'calendar'
  | 'deadline'
  | 'breach'
  | 'rate'
  | 'reload'
  | 'ping'
  | 'queues'
  | 'removal'
  | 'promise'

/** Identifies a state entry: its kind, the name of its subject, and the item if there are many. */
export interface StateKey {
  readonly kind: StateKind
  readonly name: string
  /** Empty if the name has only one entry. */
  readonly item: string
}

/** A small stored value that changes in the same transaction as its subject. */
export interface StateEntry extends StateKey {
  readonly value: Json
  /** 1 when it is created, increased by every change. */
  readonly revision: number
  /** When it was last changed. */
  readonly at: Instant
}

/** A change of a state entry. */
export interface StateChange extends StateKey {
  /** The revision it was computed from: 0 if there must be no entry, absent to replace any entry. */
  readonly revision?: number | undefined
  /** Absent to remove it. */
  readonly value: Json | undefined
}

/** Which state entries to return: all of a kind, those of some names, or some items of one name. */
export interface StateFilter {
  readonly kind: StateKind
  readonly names?: readonly string[] | undefined
  readonly items?: readonly string[] | undefined
  /** Only entries after this one, in the order of name and item. */
  readonly after?: { readonly name: string; readonly item: string } | undefined
  readonly limit: number
}

/** What a removal adds to the sum of revisions: more than the removed revisions were. */
export const removalWeight = 1_000_003

/**
 * The additional change for changes that only remove entries: without it, a reader could not notice from the remaining
 * entries that the state has changed.
 */
export function removalMark(changes: readonly StateChange[]): readonly StateChange[] {
  const isRemoval = changes.length > 0 && changes.every(({ value }) => value === undefined)
  return isRemoval ? [{ kind: 'removal', name: '', item: '', value: true }] : []
}
