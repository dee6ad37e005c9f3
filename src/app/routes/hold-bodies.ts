import { z } from 'zod'
import { change, instantInput } from '../../wire/fields.js'

/** The body of a hold. */
export const holdBody = z.strictObject({
  ...change,
  until: instantInput.optional().meta({ description: 'It ends automatically at this instant.' }),
})

/** The body of a release. */
export const releaseBody = z.strictObject({
  ...change,
  catchUp: z
    .boolean()
    .optional()
    .meta({ description: 'Whether instants that were due meanwhile are caught up.' }),
})

/** Whether it was not held before. */
export const held = z.strictObject({ changed: z.boolean() })

/** Whether it was held. */
export const released = z.strictObject({ changed: z.boolean() })
