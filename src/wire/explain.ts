/** Why, coverage, findings and previews, as answers show them. */
import { z } from 'zod'
import { instant, json, maybeInstant, name } from './fields.js'
import { run } from './runs.js'

/** Why due instants did not become runs. */
export const ledgerReason = z
  .enum(['missed', 'collapsed', 'overlap', 'paused', 'frozen', 'switch', 'pruned', 'checked'])
  .meta({ id: 'LedgerReason' })

/** A range of due instants that did not become runs. */
export const ledgerEntry = z
  .strictObject({
    seq: z.number().int(),
    trigger: name,
    version: z.number().int(),
    firstAt: instant,
    lastAt: instant,
    reason: ledgerReason,
    rule: z.string(),
    blocker: z.string().nullable(),
    detail: z.string().nullable(),
    recordedAt: instant,
  })
  .meta({ id: 'LedgerEntry' })

/** What became of the due instants of a trigger in a stretch of time. */
export const why = z
  .strictObject({
    trigger: name,
    fromAt: instant,
    untilAt: instant,
    explanations: z.array(z.looseObject({ kind: z.string() })),
    beside: z.array(z.looseObject(run.shape)),
    more: z.boolean(),
    earlier: z.number().int(),
  })
  .meta({ id: 'Why' })

/** Whether every due instant of a trigger is accounted for. */
export const coverage = z
  .strictObject({
    trigger: name,
    fromAt: instant,
    untilAt: instant,
    due: z.number().int(),
    run: z.number().int(),
    explained: z.partialRecord(ledgerReason, z.number().int()),
    unexplained: z.array(instant),
    unexplainedCount: z.number().int(),
    unexpected: z.array(instant),
    unexpectedCount: z.number().int(),
    otherZoneRules: z.boolean(),
  })
  .meta({ id: 'Coverage' })

/** One thing that was looked at, and what to do about it. */
export const finding = z
  .strictObject({
    check: z.string(),
    level: z.enum(['ok', 'warn', 'error']),
    message: z.string(),
    todo: z.string().nullable(),
  })
  .meta({ id: 'Finding' })

/** The next due instants of an expression. */
export const preview = z
  .strictObject({
    expression: z.string(),
    timezone: z.string(),
    dst: z.string(),
    description: z.string().nullable(),
    occurrences: z.array(z.strictObject({ at: instant, local: z.string(), change: json })),
    changes: z.array(json),
    nextAt: maybeInstant,
  })
  .meta({ id: 'Preview' })
