import { z } from 'zod'
import { Refusal } from '../../../server/problem.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../time/civil.js'
import type { Instant } from '../../../time/instant.js'

/** A query field that may be repeated. */
export function listOf(item: z.ZodType<string>, most: number) {
  return z.union([item.transform((one) => [one]), z.array(item).max(most)])
}

/** A stretch of time in buckets. */
export interface Stretch {
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly bucketMs: number
}

/** Lengths of buckets that people can read off an axis. */
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

/** Checks a stretch of time; default: buckets of a readable length. */
export function stretchOf(
  { from, until }: { readonly from: Date; readonly until: Date },
  given: {
    readonly mostDays: number
    readonly mostBuckets: number
    readonly bucketMs?: number | undefined
  },
): Stretch {
  const [fromAt, untilAt] = [from.getTime(), until.getTime()]
  const lengthMs = untilAt - fromAt
  if (lengthMs <= 0) throw refused('query/until', 'it must be later than `from`')
  if (lengthMs > given.mostDays * DAY_MS) {
    throw refused('query/from', `the stretch has more than ${given.mostDays} days`)
  }
  const bucketMs = given.bucketMs ?? readable.find((ms) => lengthMs / ms <= usualBuckets) ?? 7 * DAY_MS
  if (lengthMs / bucketMs > given.mostBuckets) {
    throw refused('query/bucketMs', `the stretch has more than ${given.mostBuckets} buckets of this length`)
  }
  return { fromAt, untilAt, bucketMs }
}

function refused(path: string, message: string): Refusal {
  return new Refusal('REQUEST_INVALID', `the request is not valid: ${path}: ${message}`, {
    faults: [{ path, message }],
  })
}
