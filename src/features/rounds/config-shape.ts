import { z } from 'zod'
import { durationShape, priorityShape } from '../../formats/config/config-shape.js'

const round = z.strictObject({
  every: durationShape.describe('How often it checks which services are due.'),
  services: z
    .array(
      z.union([
        z.string(),
        z.strictObject({
          job: z.string(),
          every: durationShape
            .optional()
            .describe('How often the service runs; default: the interval of the round.'),
        }),
      ]),
    )
    .min(1)
    .max(100)
    .describe('Jobs, in the order in which they are performed.'),
  priority: priorityShape.optional(),
  enabled: z.boolean().optional(),
})

/** The sections of a config that this feature reads. */
export const sectionShapes = { rounds: z.record(z.string(), round).optional() }
