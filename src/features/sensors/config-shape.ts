import { z } from 'zod'
import { durationShape, priorityShape, textsShape } from '../../formats/config/config-shape.js'
import { sensorTypes } from './config.js'

const sensor = z.looseObject({
  type: z.enum(sensorTypes).optional().describe('What looks; its own settings stand beside it.'),
  job: z.string().optional().describe('The job of which every observation becomes a run.'),
  every: durationShape.optional().describe('How long after the end of a poll the next one begins; 30s.'),
  timeout: durationShape.optional().describe('How long one poll may take; 60s.'),
  timezone: z.string().optional().describe('The zone in which days are counted; UTC.'),
  dedupe: z
    .strictObject({
      by: z.enum(['key', 'key-and-partition']).optional(),
      for: durationShape.optional().describe('How long an observation is remembered; for ever.'),
    })
    .optional(),
  overlap: z.enum(['allow', 'queue-all']).optional(),
  priority: priorityShape.optional(),
  enabled: z.boolean().optional(),
  pauseAfter: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('After so many failed polls in a row it is paused.'),
  labels: textsShape.optional(),
})

/** The sections of a config that this feature reads. */
export const sectionShapes = { sensors: z.record(z.string(), sensor).optional() }
