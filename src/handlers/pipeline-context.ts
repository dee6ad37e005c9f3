import type { StepResults } from '../model/pipeline.js'
import type { HttpContext } from './perform-http.js'
import type { ShellContext } from './perform-shell.js'
import type { StepFunction } from './step-function.js'

/** What a pipeline needs beside its run. */
export interface PipelineContext extends ShellContext, HttpContext {
  /** The functions that steps may use, by name. */
  readonly functions: ReadonlyMap<string, StepFunction>
  /** What an earlier attempt got done before a step failed, where this one is to go on there. */
  readonly completed?: StepResults | undefined
}
