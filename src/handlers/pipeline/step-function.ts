import type { RunId } from '../../kernel/identity/identity.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StepResults } from '../../kernel/job/pipeline.js'
import type { LogLine } from '../../kernel/run/run.js'

/** What a function that is a step of a pipeline is given. */
export interface StepContext {
  /** The run's id, the same for every attempt: with the step's, an idempotency key. */
  readonly id: RunId
  /** The run's `run_id` in its plan and queue file; its id where it has none. */
  readonly runId: string
  /** The run's `job_id` in its plan and queue file; its id where it has none. */
  readonly jobId: string
  readonly job: string
  readonly trigger: string | undefined
  /** Counts up with every claim of the run: a fencing token. */
  readonly attempt: number
  readonly dueAt: Date
  readonly partition: string | undefined
  /** The id of this step. */
  readonly step: string
  /** What the run was given. */
  readonly params: Json
  /** What the steps before it came to, by their ids. */
  readonly results: StepResults
  /** What the pipeline file says for this step. */
  readonly config: Json | undefined
  /** Aborts at the timeout of the step or the job, on a cancel, and when the worker stops. */
  readonly signal: AbortSignal
  /** Writes a line that is kept with the run. */
  log(text: string, level?: LogLine['level']): void
}

/** A step of a pipeline as a function; what it returns is the step's result. */
export type StepFunction = (step: StepContext) => unknown

/** The functions that steps of pipelines use, by name; a part of the definitions of an app. */
export function stepFunctions(): Map<string, StepFunction> {
  return new Map()
}
