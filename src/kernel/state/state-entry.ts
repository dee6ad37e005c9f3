import type { Instant } from '../../time/instant.js'
import type { Json } from '../definition/json.js'

/**
 * What a note is about: the open cycle of a round, what its last check came to, the timing of a service, the state of a sensor and its evaluations,
 * the state of an asset's partition, a partition that a trigger has yet to follow, a one-shot that was executed,
 * the last cleanup, a backfill, that an app names a plan, that a missed entry of one was enqueued, a process and what it can perform,
 * how the clocks of the machine stand to each other, up to which range somebody has looked at what a trigger missed,
 * the ends of a day by hour and job, what became of the due instants of a trigger on a day, a notice of trouble and
 * what became of it, the rules of alerts, a calendar, a deadline of a run and one that was not kept, how far a rate
 * limit is used up, a request to a process to read its config again,
 * a run whose pings are not all sent, the queues that a source gives limits, that entries were removed,
 * and what a definition promises about its last success or its partitions.
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

/** Which note: of a kind, about something that has a name, and where there are many of them which item. */
export interface StateKey {
  readonly kind: StateKind
  readonly name: string
  /** Empty where a name has one note only. */
  readonly item: string
}

/** A small value that is kept beside the runs and moves in the same transaction as what it is about. */
export interface StateEntry extends StateKey {
  readonly value: Json
  /** 1 when it is made, and one more with every change. */
  readonly revision: number
  /** When it was last changed. */
  readonly at: Instant
}

/** A change of a note. */
export interface StateChange extends StateKey {
  /** The revision it was computed from: 0 where there must be none, absent where whatever stands there is replaced. */
  readonly revision?: number | undefined
  /** Absent to remove it. */
  readonly value: Json | undefined
}

/** Which state entries are asked for: all of a kind, those about some names, of one name some items. */
export interface StateFilter {
  readonly kind: StateKind
  readonly names?: readonly string[] | undefined
  readonly items?: readonly string[] | undefined
  /** Only those behind this one, in the order of name and item. */
  readonly after?: { readonly name: string; readonly item: string } | undefined
  readonly limit: number
}

/** What a removal counts beside the revisions of entries, which go away with them: more than those come to. */
export const removalWeight = 1_000_003

/**
 * What is written beside changes that only remove entries: a removed entry leaves nothing by which a reader could see
 * that the state has changed.
 */
export function removalMark(changes: readonly StateChange[]): readonly StateChange[] {
  const isRemoval = changes.length > 0 && changes.every(({ value }) => value === undefined)
  return isRemoval ? [{ kind: 'removal', name: '', item: '', value: true }] : []
}
