import { z } from 'zod'
import { commandShape, durationShape, requestShape } from './config/config-shape.js'

const attempts = z.number().int().min(1).max(100)

const step = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
    .optional()
    .describe('Its name in results and errors; default: step-1, step-2 and so on.'),
  run: commandShape.optional().describe('A command; exactly one of run, http and uses is there.'),
  http: requestShape.optional().describe('A request; the body `params` or `results` stands for those.'),
  uses: z.string().optional().describe('The name of a function that the app registered.'),
  config: z.json().optional().describe('Handed to that function.'),
  timeout: durationShape.optional().describe('How long one try may take.'),
  retry: z
    .union([attempts, z.strictObject({ attempts: attempts.optional(), delay: durationShape.optional() })])
    .optional()
    .describe('How often it is tried before it counts as failed.'),
})

/** The shape of a pipeline file, for editors and other programs; `readPipeline` knows the rules that a shape cannot say. */
export const pipelineShape = z.strictObject({
  name: z.string().optional().describe('Default: the name of the file without its extension.'),
  resume: z
    .boolean()
    .optional()
    .describe('Whether another attempt resumes at the step that failed; default: it starts over.'),
  steps: z.array(step).min(1).max(100).describe('Performed in order; the first one that fails ends the run.'),
})
