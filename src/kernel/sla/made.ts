/**
 * When the partitions of an asset must be made. Each promise has one entry with the partition that is watched; when its
 * deadline has passed, the next partition replaces it.
 */
import type { Json } from '../definition/json.js'
import { labelAt, shiftLabel, sliceOf } from '../partition/label.js'
import { isTime, type TimeSpec } from '../partition/spec.js'
import type { Job } from '../job/job.js'
import type { StateChange, StateKey } from '../state/state-entry.js'
import type { Instant } from '../../time/instant.js'
import { deadlineChange, jobKey, type Deadline } from './deadline.js'
import { nextTimeOfDay, type Sla } from './sla.js'

/** The promises about partitions. */
export type MadeRule = 'made-within' | 'made-by'

/** The partition that is watched for one promise. */
export interface WatchedPartition {
  /** The promise as defined; if it changes, watching starts again. */
  readonly promise: string
  readonly partition: string
  /** The end of the partition. */
  readonly endAt: Instant
  readonly deadlineAt: Instant
}

/** One promise about the partitions of an asset. */
export interface MadePromise {
  readonly rule: MadeRule
  /** Its definition as a text, to notice a change. */
  readonly promise: string
  readonly spec: TimeSpec
  deadlineAfter(endAt: Instant): Instant | undefined
}

/** The promises of a job about its partitions. */
export function madePromises({ sla, asset }: Pick<Job, 'sla' | 'asset'>): readonly MadePromise[] {
  const spec = asset?.partitions
  if (sla === undefined || spec === undefined || !isTime(spec)) return []
  const { madeWithinMs, madeBy } = sla
  const timezone = zoneOf(sla, spec)
  const text = (what: unknown): string => JSON.stringify([what, spec])
  return [
    ...(madeWithinMs === undefined
      ? []
      : [
          {
            rule: 'made-within' as const,
            promise: text(madeWithinMs),
            spec,
            deadlineAfter: (endAt: Instant) => endAt + madeWithinMs,
          },
        ]),
    ...(madeBy === undefined
      ? []
      : [
          {
            rule: 'made-by' as const,
            promise: text([madeBy, timezone]),
            spec,
            deadlineAfter: (endAt: Instant) => nextTimeOfDay(madeBy, timezone, endAt),
          },
        ]),
  ]
}

function zoneOf({ timezone }: Sla, spec: TimeSpec): string {
  return timezone ?? spec.timezone
}

/** The key of the entry of a promise. */
export function madeKey(job: string, rule: MadeRule): StateKey {
  return { kind: 'promise', name: jobKey(job), item: rule }
}

/** The first partition to watch: the one that is being written now. */
export function firstWatched(promise: MadePromise, now: Instant): WatchedPartition | undefined {
  const spec = { ...promise.spec, previous: false }
  const { start } = spec
  const label =
    labelAt(spec, now) ?? (start !== undefined && sliceOf(spec, start).fromAt > now ? start : undefined)
  return label === undefined ? undefined : watched(promise, label)
}

/** The partition to watch after one was judged. */
export function nextWatched(
  promise: MadePromise,
  { partition }: WatchedPartition,
): WatchedPartition | undefined {
  const label = shiftLabel(promise.spec, partition, 1)
  return label === undefined ? undefined : watched(promise, label)
}

function watched(promise: MadePromise, partition: string): WatchedPartition | undefined {
  const endAt = sliceOf(promise.spec, partition).untilAt
  const deadlineAt = promise.deadlineAfter(endAt)
  return deadlineAt === undefined ? undefined : { promise: promise.promise, partition, endAt, deadlineAt }
}

/** Writes the entry of a promise and its deadline, or removes both if nothing is left to watch. */
export function watchedChanges(
  watching: WatchedPartition | undefined,
  { job, rule, revision }: { readonly job: string; readonly rule: MadeRule; readonly revision: number },
): readonly StateChange[] {
  const key = madeKey(job, rule)
  if (watching === undefined) return [{ ...key, revision, value: undefined }]
  return [
    { ...key, revision, value: watching as unknown as Json },
    deadlineChange(madeDeadline(watching, { job, rule })),
  ]
}

/** The deadline of the partition that is watched. */
function madeDeadline(
  { partition, endAt, deadlineAt }: WatchedPartition,
  { job, rule }: { readonly job: string; readonly rule: MadeRule },
): Deadline {
  return {
    rule,
    of: 'asset',
    name: job,
    trigger: null,
    job,
    run: null,
    partition,
    dueAt: endAt,
    deadlineAt,
    withinMs: null,
  }
}
