/** Backfills as requests and answers show them. */
import { z } from 'zod'
import { backfillOrders, type Backfill } from '../kernel/backfill/backfill.js'
import { paceText } from '../kernel/backfill/pace.js'
import { instant, maybeInstant, name } from './fields.js'

/** The order of a backfill. */
export const backfillOrder = z.enum(backfillOrders)

/** The limits of a backfill. */
export const backfillSpeed = {
  concurrency: z
    .number()
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .meta({ description: 'How many runs concurrently.' }),
  pace: z.string().max(64).optional().meta({ description: 'How many runs in a period.', example: '10/1m' }),
}

/** A backfill. */
export const backfill = z
  .strictObject({
    id: z.string(),
    trigger: name.nullable(),
    asset: name.nullable(),
    only: z.string(),
    order: backfillOrder,
    concurrency: z.number().int().nullable(),
    pace: z.string().nullable(),
    total: z.number().int(),
    first: z.string(),
    last: z.string(),
    skipped: z.record(z.string(), z.number().int()).meta({ description: 'How many are skipped, by reason.' }),
    by: z.string(),
    reason: z.string().nullable(),
    createdAt: instant,
    startedAt: maybeInstant,
    state: z.enum(['planned', 'starting', 'started', 'cancelling', 'cancelled']),
    started: z.number().int(),
    cancelledRuns: z.number().int(),
  })
  .meta({ id: 'Backfill' })

/** A backfill with its progress. */
export const backfillProgress = backfill
  .extend({ done: z.number().int(), failed: z.number().int(), left: z.number().int() })
  .meta({ id: 'BackfillProgress' })

/** A backfill as `--json` and the API show it. */
export function backfillView<Given extends Backfill>(given: Given) {
  const { looked: _, pace, ...rest } = given
  return { ...rest, pace: pace === null ? null : paceText(pace) }
}
