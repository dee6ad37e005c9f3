import type { PipelineSpec } from '../../kernel/job/job.js'
import type { StepResults } from '../../kernel/job/pipeline.js'
import type { HttpContext } from '../perform-http.js'
import type { ShellContext } from '../perform-shell.js'
import type { StepFunction } from './step-function.js'

/** The names of a run in plans and queue files. */
export interface PipelineIds {
  readonly jobId: string
  readonly runId: string
}

/** The input of a pipeline handler. */
export interface PipelineContext extends ShellContext, HttpContext {
  /** The functions that steps may use, by name. */
  readonly functions: ReadonlyMap<string, StepFunction>
  readonly ids: PipelineIds
  /** Variables for every command; those of its step have priority. */
  readonly env?: PipelineSpec['env']
  /** The results of an earlier attempt, if this one resumes at the step that failed. */
  readonly completed?: StepResults | undefined
}
