import { z } from 'zod'
import { jobShape, scheduleShape } from '../../formats/config/config-shape.js'
import { dimensionKinds } from '../../kernel/partition/spec.js'

const time = {
  timezone: z.string().optional().describe('The zone by whose calendar time is cut; UTC.'),
  start: z.string().optional().describe('The label of the first one.'),
  end: z.string().optional().describe('The label of the last one.'),
  previous: z.boolean().optional().describe('Whether an instant stands for the slice before its own.'),
}
const labels = z.array(z.string().min(1)).min(1).max(10_000)

const dimension = z.union([
  z.enum(dimensionKinds),
  z.strictObject({ kind: z.enum(['hourly', 'daily', 'weekly', 'monthly']), ...time }),
  z.strictObject({ kind: z.literal('keys'), keys: labels }),
  z.strictObject({ kind: z.literal('custom'), labels: labels.optional() }),
])

const asset = jobShape.extend({
  partitions: z
    .union([
      dimension,
      z.strictObject({ kind: z.literal('two-dimensional'), first: dimension, second: dimension }),
    ])
    .optional()
    .describe('How its data is cut; default: one piece.'),
  deps: z
    .array(
      z.union([
        z.string(),
        z.strictObject({
          asset: z.string(),
          map: z
            .union([z.enum(['same', 'time', 'all', 'any']), z.strictObject({ offset: z.number().int() })])
            .optional()
            .describe('Which of its partitions each one needs.'),
        }),
      ]),
    )
    .max(100)
    .optional()
    .describe('The assets it is made from.'),
  follow: z.enum(['upstream', 'manual']).optional().describe('Whether it is made when all it needs is done.'),
})

const schedule = scheduleShape.extend({
  asset: z.string().optional().describe('The asset; the one that has the name of the schedule.'),
})

/** The sections of a config that this feature reads. */
export const sectionShapes = {
  assets: z.record(z.string(), asset).optional(),
  schedules: z.record(z.string(), schedule).optional(),
}
