import { z } from 'zod'
import { Refusal } from '../../../server/problem.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../time/civil.js'
import type { Instant } from '../../../time/instant.js'

/** A query field that may be repeated. */
export function listOf(item: z.ZodType<string>, most: number) {
  return z.union([item.transform((one) => [one]), z.array(item).max(most)])
}

/** A range of time in buckets. */
export interface Stretch {
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly bucketMs: number
}

/** Lengths of buckets that are easy to read on an axis. */
const readable = [
  1000,
  10_000,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  DAY_MS,
  7 * DAY_MS,
]
const usualBuckets = 150

/** Checks a range of time. */
export function stretchOf(
  { from, until }: { readonly from: Date; readonly until: Date },
  mostDays: number,
): Omit<Stretch, 'bucketMs'> {
  const [fromAt, untilAt] = [from.getTime(), until.getTime()]
  if (untilAt <= fromAt) throw refused('query/until', 'it must be later than `from`')
  if (untilAt - fromAt > mostDays * DAY_MS) {
    throw refused('query/from', `the range has more than ${mostDays} days`)
  }
  return { fromAt, untilAt }
}

/** The buckets of a range; default: a readable length. A range of more than a day begins with an hour and has buckets of whole hours, since it is read from roll-ups. */
export function bucketsOf(
  { fromAt: from, untilAt }: Omit<Stretch, 'bucketMs'>,
  { mostBuckets, bucketMs: asked }: { readonly mostBuckets: number; readonly bucketMs?: number | undefined },
): Stretch {
  const isLong = untilAt - from > DAY_MS
  const fromAt = isLong ? from - (from % HOUR_MS) : from
  const lengthMs = untilAt - fromAt
  const lengths = isLong ? readable.filter((ms) => ms % HOUR_MS === 0) : readable
  const bucketMs = asked ?? lengths.find((ms) => lengthMs / ms <= usualBuckets) ?? 7 * DAY_MS
  if (isLong && bucketMs % HOUR_MS !== 0) {
    throw refused('query/bucketMs', 'buckets of a range of more than a day must have whole hours')
  }
  if (lengthMs / bucketMs > mostBuckets) {
    throw refused('query/bucketMs', `the range has more than ${mostBuckets} buckets of this length`)
  }
  return { fromAt, untilAt, bucketMs }
}

function refused(path: string, message: string): Refusal {
  return new Refusal('REQUEST_INVALID', `the request is not valid: ${path}: ${message}`, {
    faults: [{ path, message }],
  })
}
