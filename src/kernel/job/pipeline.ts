import type { HttpSpec, ShellSpec } from './job.js'
import type { Json } from '../definition/json.js'
import { isMap } from '../definition/read-value.js'
import type { StoredError } from '../run/run.js'

/** Steps that are performed in order; the first one that fails ends the run. */
export interface Pipeline {
  readonly name: string
  readonly steps: readonly Step[]
  /** Whether another attempt goes on at the step that failed, with the results of those before it. */
  readonly resume: boolean
}

/** One step: what it does, how long that may take, and how often it is tried. */
export interface Step {
  readonly id: string
  readonly action: ShellSpec | HttpSpec | UsesSpec
  readonly timeoutMs: number | undefined
  readonly retry: StepRetry
}

/** How often a step is tried before it counts as failed, and how long it waits in between. */
export interface StepRetry {
  /** Tries in all, the first one included. */
  readonly attempts: number
  readonly delayMs: number
}

/** A function that the app registered under a name. */
export interface UsesSpec {
  readonly kind: 'uses'
  readonly name: string
  readonly config: Json | undefined
}

/** What each step that was done came to, by its id. */
export type StepResults = Readonly<Record<string, Json>>

/** What the error of a run says beside its message when a step of its pipeline failed. */
export interface StepFailure {
  readonly step: string
  /** The results of the steps before it. */
  readonly completed: StepResults
  /** Whether it took longer than it may. */
  readonly timedOut?: true
}

/** The job of runs that name their pipeline file themselves, as those of plans and of queue files do. */
export const pipelineJob = 'pipeline'

/** What such a run is given: the file, and the params for it. */
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
  return path.split(/[/\\]/).includes('..') ? 'leads out with ..' : undefined
}

/** The payload of a run as one that names its pipeline file, where it is one. */
export function pipelinePayloadOf(payload: unknown): PipelinePayload | undefined {
  if (!isMap(payload) || Object.keys(payload).length !== 2) return undefined
  const { pipeline_path: path, params } = payload
  return typeof path === 'string' && isMap(params)
    ? { pipeline_path: path, params: params as Json }
    : undefined
}

/** An error as queue files and summaries have it. */
export interface QueueError {
  readonly code: string
  readonly message: string
  readonly step?: string
}

/** The words of queue files for the errors of a pipeline; others keep their codes. */
const queueCodes: ReadonlyMap<string, string> = new Map([
  ['STEP_FAILED', 'orchestrator_failed'],
  ['PIPELINE_INVALID', 'job_invalid'],
  ['TIMED_OUT', 'timed_out'],
  ['CANCELLED', 'cancelled'],
])

/** A stored error in the words of queue files; it names the step of a pipeline that failed. */
export function queueErrorOf({ code, message, details }: StoredError): QueueError {
  const { step, timedOut } = isMap(details) ? details : {}
  return {
    code: timedOut === true ? 'timed_out' : (queueCodes.get(code) ?? code),
    message,
    ...(typeof step === 'string' ? { step } : {}),
  }
}
