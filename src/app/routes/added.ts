import { z } from 'zod'
import { change, name } from '../../wire/fields.js'

/** Definitions as a config file has them; the kernel checks them, and names every fault with its place. */
export const definitionBody = z.strictObject({
  ...change,
  jobs: z.record(name, z.looseObject({})).optional(),
  triggers: z.record(name, z.looseObject({})).optional(),
  replace: z
    .boolean()
    .optional()
    .meta({ description: 'Changes existing definitions instead of refusing them.' }),
})

/** The names of what was added. */
export const added = z.strictObject({ jobs: z.array(name), triggers: z.array(name) })
