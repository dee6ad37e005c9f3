import { RotaError } from '../../kernel/definition/errors.js'
import type { Json } from '../../kernel/definition/json.js'
import type { Pipeline, Step, StepFailure, StepResults } from '../../kernel/job/pipeline.js'
import { resultOf } from '../../kernel/job/result.js'
import { withAdvice, retryAdviceOf } from '../../kernel/job/thrown.js'
import type { PipelineContext } from './pipeline-context.js'
import { performStep } from './perform-step.js'
import { fittingResults } from './step-results.js'

/**
 * Performs the steps of a pipeline in order. Resolves with the results of all; throws at the first step that fails,
 * with an error that names the step and contains the results of the earlier ones.
 */
export async function performPipeline(pipeline: Pipeline, context: PipelineContext): Promise<Json> {
  const results = new Map<string, Json>()
  const { steps } = pipeline
  for (const [index, step] of steps.entries()) {
    const before = resumed(step, steps, context.completed)
    if (before !== undefined) {
      results.set(step.id, before)
      context.log('info', `step ${step.id} (${index + 1} of ${steps.length}): done by an earlier attempt`)
      continue
    }
    context.log('info', `step ${step.id} (${index + 1} of ${steps.length})`)
    results.set(step.id, await tryStep(step, context, Object.fromEntries(results)))
  }
  return { pipeline: pipeline.name, steps: fittingResults(Object.fromEntries(results), mostResultBytes) }
}

/** The size limit of the results, in the result of a run and in the details of its error. */
const mostResultBytes = 60_000

/** The result of an earlier attempt, if all steps before this one were completed as well. */
function resumed(step: Step, steps: readonly Step[], completed: StepResults = {}): Json | undefined {
  const before = steps.slice(0, steps.indexOf(step) + 1)
  // A pipeline that was edited meanwhile may have a new step before the completed ones.
  return before.every(({ id }) => Object.hasOwn(completed, id)) ? completed[step.id] : undefined
}

/** Tries a step as often as it allows; an abort ends the wait for the next try. */
async function tryStep(step: Step, context: PipelineContext, results: StepResults): Promise<Json> {
  const { attempts, delayMs } = step.retry
  for (let attempt = 1; ; attempt++) {
    try {
      return resultOf(await performStep(step, context, results)) ?? null
    } catch (error) {
      // An abort is not a failure of the step; its reason decides about the attempt.
      if (context.signal.aborted) throw error
      const { permanent, snoozeMs } = retryAdviceOf(error)
      if (attempt >= attempts || permanent === true || snoozeMs !== undefined)
        throw stepFailed(step, error, results)
      context.log('warn', `step ${step.id}: try ${attempt} of ${attempts} failed: ${messageOf(error)}`)
      await context.clock.sleep(delayMs, context.signal)
      if (context.signal.aborted) throw stepFailed(step, error, results)
    }
  }
}

function stepFailed(step: Step, cause: unknown, results: StepResults): RotaError {
  const details: StepFailure = {
    step: step.id,
    completed: fittingResults(results, mostResultBytes),
    ...(isTimeout(cause) ? { timedOut: true } : {}),
  }
  const message = `step ${step.id}: ${messageOf(cause)}`
  return withAdvice(
    new RotaError('STEP_FAILED', message, { cause, details: { ...details } }),
    retryAdviceOf(cause),
  )
}

function isTimeout(error: unknown): boolean {
  return error instanceof RotaError && error.code === 'TIMED_OUT'
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message === '' ? error.name : error.message
}
