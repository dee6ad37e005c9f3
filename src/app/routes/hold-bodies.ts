import { z } from 'zod'
import { change, instantInput } from '../../wire/fields.js'

/** What holding something back takes. */
export const holdBody = z.strictObject({
  ...change,
  until: instantInput.optional().meta({ description: 'It ends by itself at this instant.' }),
})

/** What releasing something takes. */
export const releaseBody = z.strictObject({
  ...change,
  catchUp: z.boolean().optional().meta({ description: 'Whether what was due meanwhile is caught up.' }),
})

/** Whether it was not held already. */
export const held = z.strictObject({ changed: z.boolean() })

/** Whether it was held. */
export const released = z.strictObject({ changed: z.boolean() })
