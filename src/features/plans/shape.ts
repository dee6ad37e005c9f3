import { z } from 'zod'
import { usualPlanZone } from './definition.js'

const entry = z.strictObject({
  publish_at: z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?$/)
    .describe('Such as 2026-01-05T09:00, in the plan’s zone, or 2026-01-05T09:00+07:00.'),
  pipeline_path: z
    .string()
    .min(1)
    .max(1024)
    .describe('A pipeline file, relative to the working directory, with neither .. nor | in it.'),
  run_id_prefix: z
    .string()
    .regex(/^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$/)
    .optional()
    .describe('The beginning of the run’s id.'),
  params: z
    .record(z.string(), z.json())
    .optional()
    .describe('What the pipeline is given; no part of the id.'),
})

/** The shape of a plan, for editors and other programs; `readPlan` knows the rules that a shape cannot say. */
export const planShape = z.strictObject({
  schema_version: z.literal('v1'),
  timezone: z
    .string()
    .optional()
    .describe(`The IANA zone of times without an offset; default: ${usualPlanZone}.`),
  entries: z.array(entry),
})
