import { resolve } from 'node:path'
import type { RunContext } from '../../engine/worker/perform.js'
import { performPipeline } from './perform-pipeline.js'
import type { PipelineContext, PipelineIds } from './pipeline-context.js'
import type { StepFunction } from './step-function.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { shown } from '../../kernel/definition/faults.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Json } from '../../kernel/definition/json.js'
import {
  pathProblem,
  pipelinePayloadOf,
  type StepFailure,
  type StepResults,
} from '../../kernel/job/pipeline.js'
import { isMap } from '../../kernel/definition/read-value.js'
import type { Run } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'

/** Performs a run of a pipeline file, which is read now so that edits take effect. */
export async function runPipeline(
  run: RunContext,
  pipeline: {
    /** Undefined if the run names its own. */
    readonly path: string | undefined
    readonly store: Store
    /** Returns the functions that steps use; called only if a step uses one. */
    readonly steps: () => Promise<ReadonlyMap<string, StepFunction>>
    readonly context: Omit<PipelineContext, 'functions' | 'ids'>
  },
): Promise<Json> {
  const { store, context } = pipeline
  const { path, params } = inputsOf(run.payload, pipeline.path)
  // The parser is loaded with the first run: an app without pipelines starts faster without it.
  const { loadPipeline } = await import('../../formats/pipeline-file.js')
  const loaded = await loadPipeline(resolve(context.directory ?? '', path))
  const completed = loaded.resume && run.attempt > 1 ? await completedBefore(store, run.id) : undefined
  const isCalling = loaded.steps.some(({ action }) => action.kind === 'uses')
  const functions = isCalling ? await pipeline.steps() : noFunctions
  const ids = idsOf(await store.run(run.id), run.id)
  const given = { ...context.run, payload: params }
  return await performPipeline(loaded, { ...context, functions, ids, run: given, completed })
}

const noFunctions: ReadonlyMap<string, StepFunction> = new Map()

/** The names of a run for people and other programs, as in queue files; default: its own id. */
function idsOf(run: Run | undefined, id: RunId): PipelineIds {
  const { job_id: jobId = id, run_id: runId = id } = run?.labels ?? {}
  return { jobId, runId }
}

/** The file and the params of a run. A path from a payload is data, so it must not leave the directory. */
function inputsOf(payload: unknown, own: string | undefined): { path: string; params: unknown } {
  const named = pipelinePayloadOf(payload)
  if (own !== undefined) return { path: own, params: named === undefined ? payload : named.params }
  if (named === undefined) throw new RotaError('PIPELINE_INVALID', 'the run names no pipeline file')
  const problem = pathProblem(named.pipeline_path)
  if (problem === undefined) return { path: named.pipeline_path, params: named.params }
  throw new RotaError('PIPELINE_INVALID', `the pipeline path ${shown(named.pipeline_path)} ${problem}`)
}

/** The completed steps of the newest attempt in which a step failed; a lost attempt leaves no results. */
async function completedBefore(store: Store, id: RunId): Promise<StepResults | undefined> {
  const failed = (await store.attempts(id)).findLast(({ error }) => error?.code === 'STEP_FAILED')
  const details = failed?.error?.details
  return isMap(details) && isMap(details['completed'])
    ? (details as unknown as StepFailure).completed
    : undefined
}
