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

/** One try of a step, ended at its timeout; `results` are those of the steps before it. */
export async function performStep(
  step: Step,
  context: PipelineContext,
  results: StepResults,
): Promise<unknown> {
  const stop = new AbortController()
  const passOn = (): void => stop.abort(context.signal.reason)
  if (context.signal.aborted) passOn()
  context.signal.addEventListener('abort', passOn, { once: true })
  const endTimer = timeoutOf(step, context.clock, stop)
  try {
    return await act(step, { ...context, signal: stop.signal }, results)
  } finally {
    endTimer()
    context.signal.removeEventListener('abort', passOn)
  }
}

function timeoutOf({ timeoutMs }: Step, clock: Clock, stop: AbortController): () => void {
  if (timeoutMs === undefined) return () => undefined
  const late = (): RotaError => new RotaError('TIMED_OUT', `took longer than ${timeoutMs} ms`)
  return clock.timer(timeoutMs, () => stop.abort(late()))
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

/** Less than a variable may hold, with room for its name. */
const mostVariableBytes = 120_000

/** The inputs are variables, never words of the command: nothing in them can become a program. */
function withInputs(action: ShellSpec, context: PipelineContext, results: StepResults): ShellSpec {
  const env = {
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

/** Two steps of one run are two requests, so that each has its own key. */
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
  const { id, job, trigger, attempt, dueAt, partition } = run
  const input = {
    id,
    ...context.ids,
    job,
    trigger,
    attempt,
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
    // Behind a promise, so that what it throws at once is handled like what it rejects with.
    const result = await Promise.race([Promise.resolve(input).then(called), patience.ended])
    if (signal.aborted) throw stoppedError(signal)
    return result
  } finally {
    patience.end()
  }
}

/** How long a function may go on after its signal before the step ends without it. */
const patienceMs = 10_000

/** Rejects a while after a signal aborted, so that a function that ignores it cannot hold its run for ever. */
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
