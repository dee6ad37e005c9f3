/** Triggers, jobs, queues, holds and workers, as requests and answers show them. */
import { z } from 'zod'
import { instant, json, maybeInstant, name } from './fields.js'

/** When a trigger is due; which fields there are depends on its kind. */
export const schedule = z.looseObject({ kind: z.string() }).meta({ id: 'Schedule' })

/** A trigger with its cursor. */
export const trigger = z
  .looseObject({
    name,
    job: name,
    state: z.enum(['on', 'paused', 'frozen', 'switched off', 'disabled', 'over', 'ended']),
    schedule,
    nextAt: maybeInstant,
    cursorAt: instant,
    definedAt: instant,
    active: z.boolean(),
    enabled: z.boolean(),
    source: z.string(),
    version: z.number().int(),
    revision: z.number().int(),
    tag: z.string().optional().meta({
      description: 'Send it in quotes as `If-Match` to refuse the change if the trigger has changed since.',
    }),
    overlap: z.string(),
    payload: json,
  })
  .meta({ id: 'Trigger' })

/** One definition of a trigger, and when it was in force. */
export const triggerVersion = z
  .strictObject({
    version: z.number().int(),
    validFromAt: instant,
    validUntil: maybeInstant,
    tzdata: z.string(),
    trigger: z.looseObject({ name }),
  })
  .meta({ id: 'TriggerVersion' })

/** A job; values that may be secrets are left out. */
export const job = z
  .looseObject({
    name,
    handler: z.looseObject({ kind: z.string() }),
    queue: name,
    priority: z.number().int(),
    source: z.string(),
    active: z.boolean(),
  })
  .meta({ id: 'Job' })

/** A queue and its state. */
export const queue = z
  .strictObject({
    name,
    concurrency: z.number().int().nullable(),
    limit: z
      .strictObject({ max: z.number().int(), perMs: z.number().int(), burst: z.number().int() })
      .nullable(),
    paused: z.boolean(),
    ready: z.number().int(),
    oldestReadyAt: maybeInstant,
    running: z.number().int(),
    delayed: z.number().int(),
    blocked: z.number().int(),
  })
  .meta({ id: 'Queue' })

/** A hold. */
export const hold = z
  .strictObject({
    target: z.string(),
    fromAt: instant,
    untilAt: maybeInstant,
    by: z.string(),
    note: z.string(),
    catchUp: z.boolean(),
  })
  .meta({ id: 'Hold' })

/** A process that works on the store. */
export const worker = z
  .looseObject({
    id: z.string(),
    host: z.string(),
    pid: z.number().int(),
    version: z.string(),
    roles: z.array(z.string()),
    running: z.number().int(),
    startedAt: instant,
    leaseUntil: instant,
    isDraining: z.boolean(),
    standing: z.enum(['live', 'late', 'gone']),
  })
  .meta({ id: 'Worker' })
