/** Runs, their attempts and their logs, as requests and answers show them. */
import { z } from 'zod'
import { hold } from './definitions.js'
import { instant, json, labels, maybeInstant, name } from './fields.js'

const states = ['pending', 'running', 'done', 'failed', 'cancelled'] as const

/** The state of a run. */
export const runState = z.enum(states).meta({ id: 'RunState' })

/** What created a run. */
export const runOrigin = z.enum(['trigger', 'enqueue', 'manual', 'sensor', 'round', 'upstream', 'backfill'])

/** The error of a run or an attempt. */
export const storedError = z
  .strictObject({ code: z.string(), message: z.string(), stack: z.string().nullable(), details: json })
  .meta({ id: 'StoredError' })

/** A run. */
export const run = z
  .strictObject({
    id: z.string(),
    job: name,
    trigger: name.nullable(),
    origin: runOrigin,
    state: runState,
    reason: z.string().nullable(),
    dueAt: instant,
    runAt: instant,
    createdAt: instant,
    claimedAt: maybeInstant,
    startedAt: maybeInstant,
    finishedAt: maybeInstant,
    attempt: z.number().int(),
    failures: z.number().int(),
    crashes: z.number().int(),
    priority: z.number().int(),
    partition: z.string().nullable(),
    uniqueKey: z.string().nullable(),
    labels: labels.nullable(),
    worker: z.string().nullable(),
    waitsFor: z.string().nullable(),
    cancelRequested: z.boolean(),
    payload: json,
    result: json,
    error: storedError.nullable(),
  })
  .meta({ id: 'Run' })

/** Failed runs with the same error, apart from numbers, ids and quoted texts in its message. */
export const errorGroup = z
  .strictObject({
    code: z.string(),
    shape: z.string(),
    count: z.number().int(),
    firstDueAt: instant,
    lastDueAt: instant,
    jobs: z.array(name),
    example: run,
  })
  .meta({ id: 'ErrorGroup' })

/** One attempt of a run. */
export const attempt = z
  .strictObject({
    attempt: z.number().int(),
    end: z.enum(['done', 'failed', 'timed-out', 'lost', 'released', 'cancelled', 'snoozed']).nullable(),
    worker: z.string().nullable(),
    claimedAt: instant,
    startedAt: maybeInstant,
    endedAt: maybeInstant,
    error: storedError.nullable(),
  })
  .meta({ id: 'Attempt' })

/** One line of the log of a run. */
export const logLine = z
  .strictObject({
    seq: z.number().int(),
    at: instant,
    attempt: z.number().int(),
    level: z.enum(['debug', 'info', 'warn', 'error']),
    text: z.string(),
  })
  .meta({ id: 'LogLine' })

const holders = z.array(z.string())

/** What a pending run waits for. */
export const pendingReason = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('due-later'), at: instant }),
    z.strictObject({
      kind: z.literal('retry'),
      at: instant,
      failures: z.number().int(),
      error: storedError.nullable(),
    }),
    z.strictObject({ kind: z.literal('snoozed'), at: instant, reason: z.string() }),
    z.strictObject({ kind: z.literal('held'), hold }),
    z.strictObject({ kind: z.literal('queue-paused'), queue: name, hold }),
    z.strictObject({
      kind: z.literal('limit'),
      of: z.enum(['trigger', 'job', 'key', 'partition', 'service', 'backfill']),
      name: z.string(),
      key: z.string().nullable(),
      limit: z.number().int(),
      holders,
    }),
    z.strictObject({ kind: z.literal('queue-full'), queue: name, limit: z.number().int(), holders }),
    z.strictObject({
      kind: z.literal('rate-limit'),
      of: z.enum(['queue', 'job', 'key']),
      name,
      key: z.string().nullable(),
      max: z.number().int(),
      perMs: z.number().int(),
      at: instant,
    }),
    z.strictObject({ kind: z.literal('job-undefined'), job: name }),
    z.strictObject({ kind: z.literal('no-worker') }),
    z.strictObject({ kind: z.literal('draining'), workers: z.number().int() }),
    z.strictObject({
      kind: z.literal('no-handler'),
      job: name,
      source: z.string(),
      workers: z.number().int(),
    }),
    z.strictObject({ kind: z.literal('slots-taken'), slots: z.number().int(), workers: z.number().int() }),
    z.strictObject({ kind: z.literal('ready') }),
  ])
  .meta({ id: 'PendingReason' })
