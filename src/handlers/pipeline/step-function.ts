import type { RunId } from '../../kernel/identity/identity.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StepResults } from '../../kernel/job/pipeline.js'
import type { LogLine } from '../../kernel/run/run.js'

/** The input of a function that is a step of a pipeline. */
export interface StepContext {
  /** The run's id, the same for every attempt: with the step's, an idempotency key. */
  readonly id: RunId
  /** The run's `run_id` in its plan and queue file; default: its id. */
  readonly runId: string
  /** The run's `job_id` in its plan and queue file; default: its id. */
  readonly jobId: string
  readonly job: string
  readonly trigger: string | undefined
  /** Increases with every claim of the run: a fencing token. */
  readonly attempt: number
  /** Whether no attempt follows if this one fails. */
  readonly isLastAttempt: boolean
  readonly dueAt: Date
  readonly partition: string | undefined
  /** The id of this step. */
  readonly step: string
  /** The payload of the run. */
  readonly params: Json
  /** The results of the earlier steps, by id. */
  readonly results: StepResults
  /** The `config` of this step in the pipeline file. */
  readonly config: Json | undefined
  /** Aborts at the timeout of the step or the job, on a cancel, and when the worker stops. */
  readonly signal: AbortSignal
  /** Writes a line to the log of the run. */
  log(text: string, level?: LogLine['level']): void
}

/** A step of a pipeline as a function; its return value is the result of the step. */
export type StepFunction = (step: StepContext) => unknown

/** The functions that steps of pipelines use, by name; a part of the definitions of an app. */
export function stepFunctions(): Map<string, StepFunction> {
  return new Map()
}
