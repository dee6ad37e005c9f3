import { z } from 'zod'

/** The sections of a config that this feature reads. */
export const sectionShapes = {
  plans: z.array(z.string().min(1)).optional().describe('Plan files, relative to this one.'),
}
