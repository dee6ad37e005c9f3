import type { StepResults } from '../../kernel/job/pipeline.js'
import type { HttpContext } from '../perform-http.js'
import type { ShellContext } from '../perform-shell.js'
import type { StepFunction } from './step-function.js'

/** The names of a run in plans and queue files. */
export interface PipelineIds {
  readonly jobId: string
  readonly runId: string
}

/** What a pipeline needs beside its run. */
export interface PipelineContext extends ShellContext, HttpContext {
  /** The functions that steps may use, by name. */
  readonly functions: ReadonlyMap<string, StepFunction>
  readonly ids: PipelineIds
  /** What an earlier attempt got done before a step failed, where this one is to go on there. */
  readonly completed?: StepResults | undefined
}
