import type { HttpSpec, ShellSpec } from './job.js'
import type { Json } from '../definition/json.js'
import { isMap } from '../definition/read-value.js'
import type { StoredError } from '../run/run.js'

/** Steps that are performed in order; the first failing step ends the run. */
export interface Pipeline {
  readonly name: string
  readonly steps: readonly Step[]
  /** Whether another attempt resumes at the step that failed, with the earlier results. */
  readonly resume: boolean
}

/** One step: its action, its time limit and its retries. */
export interface Step {
  readonly id: string
  readonly action: ShellSpec | HttpSpec | UsesSpec
  readonly timeoutMs: number | undefined
  readonly retry: StepRetry
}

/** How often a step is tried, and the delay in between. */
export interface StepRetry {
  /** The number of attempts, including the first. */
  readonly attempts: number
  readonly delayMs: number
}

/** A function that the app registered under a name. */
export interface UsesSpec {
  readonly kind: 'uses'
  readonly name: string
  readonly config: Json | undefined
}

/** The results of completed steps, by id. */
export type StepResults = Readonly<Record<string, Json>>

/** The details of an error when a step of a pipeline failed. */
export interface StepFailure {
  readonly step: string
  /** The results of the steps before it. */
  readonly completed: StepResults
  /** Whether it exceeded its timeout. */
  readonly timedOut?: true
}

/** The job of runs that name their pipeline file, such as those of plans and queue files. */
export const pipelineJob = 'pipeline'

/** The payload of such a run: the file and its params. */
export interface PipelinePayload {
  readonly pipeline_path: string
  readonly params: Json
}

const longestPath = 1024

/** Why a text cannot be the path of a pipeline file below the working directory, on any system. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'is empty'
  if (Buffer.byteLength(path) > longestPath) return 'is too long'
  if (/\p{Cc}|\p{Cs}/u.test(path)) return 'contains a control character'
  if (path.includes('|')) return 'contains |'
  if (/^[a-z][a-z0-9+.-]+:\/\/|^(?:https?|file|data):/i.test(path)) return 'is a URL'
  if (/^[/\\]|^[A-Za-z]:/.test(path)) return 'is absolute'
  return path.split(/[/\\]/).includes('..') ? 'leaves the directory with ..' : undefined
}

/** The payload of a run that names its pipeline file; undefined for any other payload. */
export function pipelinePayloadOf(payload: unknown): PipelinePayload | undefined {
  if (!isMap(payload) || Object.keys(payload).length !== 2) return undefined
  const { pipeline_path: path, params } = payload
  return typeof path === 'string' && isMap(params)
    ? { pipeline_path: path, params: params as Json }
    : undefined
}

/** An error in queue files and summaries. */
export interface QueueError {
  readonly code: string
  readonly message: string
  readonly step?: string
}

/** The codes of queue files for errors of a pipeline; other errors keep their codes. */
const queueCodes: ReadonlyMap<string, string> = new Map([
  ['STEP_FAILED', 'orchestrator_failed'],
  ['PIPELINE_INVALID', 'job_invalid'],
  ['TIMED_OUT', 'timed_out'],
  ['CANCELLED', 'cancelled'],
])

/** Converts a stored error to the form of queue files, with the step that failed. */
export function queueErrorOf({ code, message, details }: StoredError): QueueError {
  const { step, timedOut } = isMap(details) ? details : {}
  return {
    code: timedOut === true ? 'timed_out' : (queueCodes.get(code) ?? code),
    message,
    ...(typeof step === 'string' ? { step } : {}),
  }
}
