/** The answers for the pages of the dashboard, one request each. */
import { z } from 'zod'
import { hold, queue, trigger } from './definitions.js'
import { ledgerEntry, ledgerReason } from './explain.js'
import { instant, maybeInstant, name } from './fields.js'
import { pendingReason, run, runState } from './runs.js'

const count = z.number().int()
const runCounts = { done: count, failed: count, cancelled: count }

/** How long something took: of how many runs, and estimates of the median and the slow end. */
export const times = z
  .strictObject({ runs: count, p50Ms: z.number(), p95Ms: z.number(), p99Ms: z.number() })
  .meta({ id: 'Times' })

/** How long the newest runs of a trigger took. */
export const usual = z
  .strictObject({ runs: count, medianMs: z.number(), p95Ms: z.number() })
  .meta({ id: 'UsualDuration' })

const measured = { ...runCounts, durations: times.nullable(), lateness: times.nullable() }

/** The ends of one bucket; `key` is the job or queue. */
export const seriesPoint = z
  .strictObject({ bucketAt: instant, key: name.nullable(), ...measured })
  .meta({ id: 'SeriesPoint' })

/** Ends of runs over time. */
export const series = z
  .strictObject({
    fromAt: instant,
    untilAt: instant,
    bucketMs: count,
    items: z.array(seriesPoint),
    total: z.strictObject(measured),
  })
  .meta({ id: 'Series' })

/** A run without its payload and result, as lists show it. */
export const runBrief = run
  .pick({
    id: true,
    job: true,
    trigger: true,
    origin: true,
    state: true,
    reason: true,
    dueAt: true,
    runAt: true,
    startedAt: true,
    finishedAt: true,
    attempt: true,
    failures: true,
    partition: true,
    worker: true,
    waitsFor: true,
  })
  .extend({ error: z.strictObject({ code: z.string(), message: z.string() }).nullable() })
  .meta({ id: 'RunBrief' })

/** A pending run that should have started, and what it waits for. */
export const lateRun = runBrief.extend({ pending: z.array(pendingReason) }).meta({ id: 'LateRun' })

/** A run that is being performed, and how long such runs take. */
export const runningRun = runBrief.extend({ usual: usual.nullable() }).meta({ id: 'RunningRun' })

/** The first items of a list, and whether there are more. */
function some(item: z.ZodType) {
  return z.strictObject({ items: z.array(item), more: z.boolean() })
}

/** The missed instants of a trigger, and how far they were acknowledged. */
export const missed = z
  .strictObject({
    trigger: name,
    ranges: count,
    firstAt: instant,
    lastAt: instant,
    rule: z.string(),
    detail: z.string().nullable(),
    /** The limits of catch-up; absent where the trigger was changed since. */
    catchUp: z.strictObject({ graceMs: count, maxAgeMs: count.nullable(), maxRuns: count }).nullable(),
    recordedAt: instant,
    /** The newest range: acknowledging it acknowledges all of them. */
    seq: count,
  })
  .meta({ id: 'Missed' })

/** The effect of a clock change on a due instant. */
export const clockChange = z
  .strictObject({
    kind: z.enum(['moved', 'added', 'dropped']),
    cause: z.enum(['gap', 'overlap']),
    changeAt: instant,
    firstLocal: z.string(),
    lastLocal: z.string(),
  })
  .meta({ id: 'ClockChange' })

/** An upcoming instant, and some of the triggers that are due then. */
export const upcomingInstant = z
  .strictObject({
    at: instant,
    count,
    triggers: z.array(
      z.strictObject({ name, job: name, change: clockChange.nullable(), usual: usual.nullable() }),
    ),
  })
  .meta({ id: 'UpcomingInstant' })

/** The upcoming instants. If it is capped, only the triggers that are due first were read. */
export const upcoming = z
  .strictObject({
    untilAt: instant,
    count,
    isCapped: z.boolean(),
    minutes: z.array(z.strictObject({ at: instant, count })),
    instants: z.array(upcomingInstant),
  })
  .meta({ id: 'Upcoming' })

/** Everything on the first page. */
export const now = z
  .strictObject({
    at: instant,
    /** With how many failed runs were looked at, if there are older ones that were not. */
    troubled: some(runBrief).extend({ lookedAt: count.nullable() }),
    missed: some(missed),
    late: some(lateRun),
    running: some(runningRun),
    queues: z.array(queue),
    workers: z.strictObject({ live: count, running: count, slots: count.nullable() }),
    holds: z.array(hold),
    upcoming,
    day: series,
  })
  .meta({ id: 'Now' })

/** A run as a mark on a lane. */
export const runMark = z
  .strictObject({
    id: z.string(),
    state: runState,
    dueAt: instant,
    startedAt: maybeInstant,
    finishedAt: maybeInstant,
  })
  .meta({ id: 'RunMark' })

/** The newest runs of triggers, newest first. */
export const recentRuns = z.strictObject({
  items: z.array(z.strictObject({ trigger: name, runs: z.array(runMark) })),
})

/** How many runs are due in a bucket, by state. */
export const runTally = z
  .strictObject({ bucketAt: instant, pending: count, running: count, ...runCounts })
  .meta({ id: 'RunTally' })

/** One trigger on the timeline. It has marks, or buckets if there would be too many marks. */
export const lane = z
  .strictObject({
    trigger,
    timezone: z.string().nullable(),
    marks: z.array(runMark).nullable(),
    buckets: z.array(runTally).nullable(),
    ranges: z.array(ledgerEntry.omit({ seq: true, trigger: true })),
    holds: z.array(hold),
    versions: z.array(
      z.strictObject({ version: count, validFromAt: instant, validUntil: maybeInstant, tzdata: z.string() }),
    ),
    /** Upcoming instants; complete up to `dueUntil`. */
    due: z.array(
      z.strictObject({ at: instant, change: clockChange.nullable(), excluded: ledgerReason.nullable() }),
    ),
    dueUntil: instant,
  })
  .meta({ id: 'Lane' })

/** Lanes over one range of time; `unknown` lists names that no trigger has. */
export const timeline = z
  .strictObject({
    at: instant,
    fromAt: instant,
    untilAt: instant,
    bucketMs: count,
    lanes: z.array(lane),
    unknown: z.array(z.string()),
    holds: z.array(hold),
  })
  .meta({ id: 'Timeline' })

/** One local day of a trigger. */
export const yearDay = z
  .strictObject({
    date: z.string(),
    fromAt: instant,
    pending: count,
    running: count,
    ...runCounts,
    /** Ranges without a run that overlap the day, by reason. */
    ranges: z.record(z.string(), count),
    /** Upcoming instants. */
    due: count,
  })
  .meta({ id: 'YearDay' })

/** A year of a trigger, by local day; the future is complete up to `dueUntil`. */
export const year = z
  .strictObject({
    trigger: name,
    timezone: z.string(),
    fromAt: instant,
    untilAt: instant,
    dueUntil: instant,
    days: z.array(yearDay),
  })
  .meta({ id: 'Year' })

/** The faults of a filter of runs, and completions at a position. */
export const queryHelp = z
  .strictObject({
    faults: z.array(
      z.strictObject({ from: count, to: count, message: z.string(), allowed: z.string().nullable() }),
    ),
    /** The part of the text that an option replaces. */
    from: count,
    to: count,
    options: z.array(z.strictObject({ text: z.string(), about: z.string() })),
  })
  .meta({ id: 'QueryHelp' })
