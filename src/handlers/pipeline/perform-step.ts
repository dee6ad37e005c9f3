import { canonicalJson } from '../../kernel/identity/canonical-json.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { HttpSpec, ShellSpec } from '../../kernel/job/job.js'
import type { Json } from '../../kernel/definition/json.js'
import type { Step, StepResults, UsesSpec } from '../../kernel/job/pipeline.js'
import type { Clock } from '../../time/clock.js'
import { handlerFailed, stoppedError } from '../handler-context.js'
import { performHttp } from '../perform-http.js'
import { performShell } from '../perform-shell.js'
import type { PipelineContext } from './pipeline-context.js'
import { fittingResults } from './step-results.js'

/** One try of a step, aborted at its timeout; `results` are those of the earlier steps. */
export async function performStep(
  step: Step,
  context: PipelineContext,
  results: StepResults,
): Promise<unknown> {
  const { timeoutMs } = step
  if (timeoutMs === undefined) return await act(step, context, results)
  const timeout = new AbortController()
  const late = (): RotaError => new RotaError('TIMED_OUT', `took longer than ${timeoutMs} ms`)
  const cancelTimer = context.clock.timer(timeoutMs, () => timeout.abort(late()))
  try {
    const signal = AbortSignal.any([context.signal, timeout.signal])
    return await act(step, { ...context, signal }, results)
  } finally {
    cancelTimer()
  }
}

function act(step: Step, context: PipelineContext, results: StepResults): Promise<unknown> {
  const { action } = step
  switch (action.kind) {
    case 'shell':
      return performShell(withInputs(action, context, results), context)
    case 'http':
      return performHttp(withBody({ action, step, results }, context), context)
    case 'uses':
      return callFunction({ action, step, results }, context)
  }
}

/** Less than the size limit of a variable, with room for its name. */
const mostVariableBytes = 120_000

/** Inputs are passed as variables, never as arguments: nothing in them can be executed. */
function withInputs(action: ShellSpec, context: PipelineContext, results: StepResults): ShellSpec {
  const env = {
    ...context.env,
    ...action.env,
    PIPELINE_RUN_ID: context.ids.runId,
    PIPELINE_JOB_ID: context.ids.jobId,
    PIPELINE_PARAMS_JSON: canonicalJson(paramsOf(context)),
    PIPELINE_RESULTS_JSON: canonicalJson(fittingResults(results, mostVariableBytes)),
  }
  return { ...action, env }
}

interface Acting<Action> {
  readonly action: Action
  readonly step: Step
  readonly results: StepResults
}

/** Two steps of one run are two requests, so each has its own key. */
function withBody({ action, step, results }: Acting<HttpSpec>, context: PipelineContext): HttpSpec {
  const headers = { 'idempotency-key': `${context.run.id}:${step.id}`, ...action.headers }
  if (action.body === 'params') return { ...action, headers, body: paramsOf(context) }
  return action.body === 'results' ? { ...action, headers, body: results } : { ...action, headers }
}

async function callFunction(
  { action, step, results }: Acting<UsesSpec>,
  context: PipelineContext,
): Promise<unknown> {
  const { run, signal, clock } = context
  const called = context.functions.get(action.name)
  if (called === undefined) throw handlerFailed(`no function is registered as ${action.name} in this process`)
  const { id, job, trigger, attempt, isLastAttempt, dueAt, partition } = run
  const input = {
    id,
    ...context.ids,
    job,
    trigger,
    attempt,
    isLastAttempt,
    partition,
    results,
    signal,
    dueAt: new Date(dueAt),
    step: step.id,
    params: paramsOf(context),
    config: action.config,
    log: (text: string, level: Parameters<PipelineContext['log']>[0] = 'info') => context.log(level, text),
  }
  const patience = new Patience(signal, clock)
  try {
    // Called in a promise, so that a synchronous throw is handled like a rejection.
    const result = await Promise.race([Promise.resolve(input).then(called), patience.ended])
    if (signal.aborted) throw stoppedError(signal)
    return result
  } finally {
    patience.end()
  }
}

/** How long a function may continue after its signal before the step ends without it. */
const patienceMs = 10_000

/** Rejects some time after a signal aborted, so that a function that ignores it cannot block its run forever. */
class Patience {
  readonly ended: Promise<never>
  readonly #signal: AbortSignal
  readonly #begin: () => void
  #cancelTimer: (() => void) | undefined

  constructor(signal: AbortSignal, clock: Clock) {
    this.#signal = signal
    let reject: (error: Error) => void = () => undefined
    this.ended = new Promise<never>((_, fail) => {
      reject = fail
    })
    this.#begin = () => {
      this.#cancelTimer = clock.timer(patienceMs, () => reject(stoppedError(signal)))
    }
    if (signal.aborted) this.#begin()
    else signal.addEventListener('abort', this.#begin, { once: true })
  }

  end(): void {
    this.#signal.removeEventListener('abort', this.#begin)
    this.#cancelTimer?.()
  }
}

function paramsOf({ run }: PipelineContext): Json {
  return (run.payload as Json | undefined) ?? {}
}
