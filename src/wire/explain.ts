/** Why, coverage, findings and previews, as answers show them. */
import { z } from 'zod'
import { slaRules } from '../kernel/sla/sla.js'
import { hold } from './definitions.js'
import { instant, json, maybeInstant, name } from './fields.js'
import { pendingReason, run, runState } from './runs.js'

/** Why due instants did not become runs. */
export const ledgerReason = z
  .enum([
    'missed',
    'collapsed',
    'overlap',
    'paused',
    'frozen',
    'switch',
    'blackout',
    'calendar',
    'pruned',
    'checked',
  ])
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

const pending = z.array(pendingReason)

/** The explanation of a due instant, or of a range of due instants, of a trigger. */
export const explanation = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('run'), at: instant, run, pending }),
    z.strictObject({
      kind: z.literal('range'),
      ...ledgerEntry.omit({ seq: true, trigger: true }).shape,
      blockerState: runState.nullable(),
      lastSignAt: maybeInstant,
    }),
    z.strictObject({ kind: z.literal('held'), firstAt: instant, lastAt: instant, hold }),
    z.strictObject({
      kind: z.literal('excluded'),
      firstAt: instant,
      lastAt: instant,
      ...ledgerEntry.pick({ reason: true, rule: true }).shape,
      detail: z.string(),
    }),
    z.strictObject({
      kind: z.literal('waiting'),
      at: instant,
      hold: hold.nullable(),
      lastSignAt: maybeInstant,
    }),
    z.strictObject({ kind: z.literal('future'), at: instant }),
    z.strictObject({
      kind: z.literal('not-due'),
      at: instant,
      beforeAt: maybeInstant,
      afterAt: maybeInstant,
    }),
    z.strictObject({
      kind: z.literal('not-defined'),
      at: instant,
      definedAt: maybeInstant,
      endedAt: maybeInstant,
    }),
    z.strictObject({ kind: z.literal('unexplained'), at: instant }),
  ])
  .meta({ id: 'Explanation' })

/** A breach of an SLA. */
export const slaBreach = z
  .strictObject({
    rule: z.enum(slaRules),
    of: z.enum(['trigger', 'round', 'job', 'asset']).meta({ description: 'The kind of its subject.' }),
    name,
    trigger: name.nullable(),
    job: name.nullable(),
    run: z.string().nullable(),
    partition: z.string().nullable(),
    dueAt: instant.meta({
      description: 'From when it counts: a due instant, the last success, or the end of a partition.',
    }),
    deadlineAt: instant,
    at: instant.meta({ description: 'When it was found.' }),
    text: z.string().meta({ description: 'One sentence for people.' }),
  })
  .meta({ id: 'SlaBreach' })

/** The explanations of the due instants of a trigger in a range of time. */
export const why = z
  .strictObject({
    trigger: name,
    fromAt: instant,
    untilAt: instant,
    explanations: z.array(explanation),
    beside: z.array(run.extend({ pending }).meta({ id: 'RunBeside' })),
    breaches: z.array(slaBreach),
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
    breaches: z.number().int().meta({ description: 'Breaches of its SLA in that time.' }),
  })
  .meta({ id: 'Coverage' })

/** The coverage of a trigger on one day in UTC; null if it was not counted yet. */
export const coveredDay = z
  .strictObject({
    date: z.string(),
    coverage: z
      .strictObject({
        due: z.number().int(),
        run: z.number().int(),
        explained: z.partialRecord(ledgerReason, z.number().int()),
        unexplained: z.number().int(),
        unexpected: z.number().int(),
      })
      .nullable(),
  })
  .meta({ id: 'CoveredDay' })

/** The result of one check, and what to do about it. */
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
