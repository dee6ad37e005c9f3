import { resolve } from 'node:path'
import { faultText, RotaError, type Fault } from '../../kernel/definition/errors.js'
import type { Pipeline } from '../../kernel/job/pipeline.js'
import type { StepFunction } from './step-function.js'

/** Reads pipeline files and throws one error with all faults, including unregistered functions if those are known. */
export async function checkPipelines(
  paths: Iterable<string>,
  options: { readonly directory: string; readonly functions: ReadonlyMap<string, StepFunction> | undefined },
): Promise<void> {
  const files = new Set([...paths].map((one) => resolve(options.directory, one)))
  if (files.size === 0) return
  // Loaded only with the first file: an app without pipelines starts faster without the parser.
  const { loadPipeline } = await import('../../formats/pipeline-file.js')
  const errors: RotaError[] = []
  for (const path of files) {
    try {
      refuseUnknown(path, await loadPipeline(path), options.functions)
    } catch (error) {
      if (!(error instanceof RotaError)) throw error
      errors.push(error)
    }
  }
  const [first, second] = errors
  if (first === undefined) return
  if (second === undefined) throw first
  const lines = errors.flatMap((error) => error.message.split('\n'))
  const faults = errors.flatMap((error) => error.faults)
  throw new RotaError('PIPELINE_INVALID', `${errors.length} pipelines cannot be used`, { faults, lines })
}

function refuseUnknown(
  path: string,
  pipeline: Pipeline,
  functions: ReadonlyMap<string, StepFunction> | undefined,
): void {
  if (functions === undefined) return
  const faults = pipeline.steps.flatMap(({ action }, index): Fault[] => {
    if (action.kind !== 'uses' || functions.has(action.name)) return []
    const message = `no function is registered as ${action.name}`
    return [{ path: `steps[${index}].uses`, message, allowed: allowedNames(functions) }]
  })
  if (faults.length === 0) return
  const list = faults.map(faultText)
  throw new RotaError(
    'PIPELINE_INVALID',
    `${path} uses functions that are not registered: ${list.join('; ')}`,
    { faults },
  )
}

function allowedNames(functions: ReadonlyMap<string, StepFunction>): string {
  return functions.size === 0
    ? 'a name given to app.pipelineStep() or steps'
    : [...functions.keys()].join(', ')
}
