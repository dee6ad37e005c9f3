import { RotaError } from '../model/errors.js'
import { randomRunId, runIdOf } from '../model/identity.js'
import type { Job } from '../model/job.js'
import { gatesOf } from '../model/occurrence.js'
import { toPayload } from '../model/payload.js'
import type { NewRun } from '../model/run.js'
import type { StoredTrigger } from '../model/trigger.js'
import { parseDuration } from '../time/duration.js'
import { parseInstant, type Instant } from '../time/instant.js'

/** How a run is enqueued. */
export interface EnqueueOptions {
  /** Not before this instant. */
  readonly at?: Date | string | undefined
  /** Not before this long from now; instead of `at`. */
  readonly delay?: string | number | undefined
  /** Higher goes first; the job's unless said otherwise. */
  readonly priority?: number | undefined
  /** While a run of the job with this key is unfinished, enqueueing gives that run instead of a second. */
  readonly uniqueKey?: string | undefined
  /** Keeps the unique key for this long, also after the run is final. */
  readonly uniqueFor?: string | number | undefined
  /** Runs with the same group key are held one at a time, or as many as the job's `keyConcurrency` says. */
  readonly groupKey?: string | undefined
}

/** The run that an enqueue records. */
export function newRun(input: { job: Job; payload: unknown; options: EnqueueOptions; now: Instant }): NewRun {
  const { job, options, now } = input
  const dueAt = dueAtOf(options, now)
  const { uniqueKey, groupKey } = options
  return {
    id: idOf({ job, uniqueKey, dueAt, now }),
    job: job.name,
    origin: 'enqueue',
    dueAt,
    runAt: dueAt,
    priority: options.priority ?? job.priority,
    payload: toPayload(input.payload),
    gates: gatesOf({ job, groupKey }),
    uniqueKey,
    uniqueUntil: options.uniqueFor === undefined ? undefined : now + parseDuration(options.uniqueFor),
  }
}

/** A run made by hand: of its own, it moves no cursor and changes no disposition. */
export function newManualRun(input: {
  job: Job
  trigger: StoredTrigger | undefined
  payload: unknown
  now: Instant
}): NewRun {
  const { job, now } = input
  const trigger = input.trigger?.trigger
  return {
    id: randomRunId(now),
    job: job.name,
    origin: 'manual',
    trigger: trigger?.name,
    version: input.trigger?.version,
    dueAt: now,
    runAt: now,
    priority: trigger?.priority ?? job.priority,
    payload: toPayload(input.payload) ?? trigger?.payload,
    gates: gatesOf({ job, trigger }),
  }
}

function idOf(input: { job: Job; uniqueKey: string | undefined; dueAt: Instant; now: Instant }): string {
  const { job, uniqueKey, dueAt, now } = input
  if (uniqueKey === undefined) return randomRunId(dueAt)
  return runIdOf({ at: dueAt, parts: ['unique', job.name, uniqueKey, String(now)] })
}

function dueAtOf({ at, delay }: EnqueueOptions, now: Instant): Instant {
  if (at !== undefined && delay !== undefined) {
    throw new RotaError('DEFINITION_INVALID', 'a run is enqueued with `at` or with `delay`, not with both')
  }
  if (delay !== undefined) return now + parseDuration(delay)
  if (at === undefined) return now
  return typeof at === 'string' ? parseInstant(at) : at.getTime()
}
