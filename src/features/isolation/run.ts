import { createRequire } from 'node:module'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Json } from '../../kernel/definition/json.js'
import { withAdvice, type RetryAdvice } from '../../kernel/job/thrown.js'
import type { StoredError } from '../../kernel/run/run.js'
import type { Clock } from '../../time/clock.js'
import type { HandlerExtension, IsolatedContext, IsolatedSpec } from '../../handlers/executable-jobs.js'
import { stoppedError } from '../../handlers/handler-context.js'
import type { FromIsolated, IsolatedAnswer } from './messages.js'
import { startUnit, type IsolatedUnit } from './unit.js'
import { RunOutput } from '../../handlers/run-output.js'

/** What an isolated handler needs besides its run. A process gets the whole environment, because it belongs to the same app. */
export interface IsolateContext extends IsolatedContext {
  /** The compiled entry module of a thread or process. */
  readonly entry: string
}

/** Runs handlers in their own thread or process. */
export const isolationHandlers: HandlerExtension = {
  isolated: async (spec, context) => await performIsolated(spec, { ...context, entry: isolateEntry() }),
}

/** The compiled entry module of a thread or process, wherever this file was loaded from. */
export function isolateEntry(): string {
  return createRequire(import.meta.url).resolve('#isolate-entry')
}

/** How long a handler may continue after its signal aborted; shorter than the limit of the worker, which would otherwise give up the slot. */
const graceMs = 5000

/**
 * Performs a module's function in a thread or process that exists only for this attempt. Its output is stored with the
 * run. Resolves with its result; throws its error, or how its thread or process ended without a result.
 */
export async function performIsolated(
  spec: IsolatedSpec,
  context: IsolateContext,
): Promise<Json | undefined> {
  const { signal } = context
  if (signal.aborted) throw stoppedError(signal)
  const output = new RunOutput(context)
  let answer: IsolatedAnswer | undefined
  const hear = (message: FromIsolated): void => {
    if (message.kind === 'log') return context.log(message.level, message.text)
    answer ??= message
    unit.end()
  }
  const { id, attempt } = context.run
  const environment = { ...context.environment, ROTA_RUN_ID: id, ROTA_ATTEMPT: String(attempt) }
  const unit = startUnit({ ...context, environment, isolate: spec.isolate, hear })
  output.follow(unit)
  const { module, export: name, takesCommands } = spec
  unit.send({ kind: 'perform', module, export: name, takesCommands, run: context.run })
  const forget = stopWith(signal, unit, context.clock)
  const how = await unit.ended
  forget()
  output.end()
  if (answer?.kind === 'done') return answer.result
  if (signal.aborted) throw stoppedError(signal)
  throw answer === undefined ? exited(spec, how, output) : thrown(answer)
}

/** Passes the signal on, and terminates a handler that ignores it. */
function stopWith(signal: AbortSignal, unit: IsolatedUnit, clock: Clock): () => void {
  let cancelGrace: () => void = () => undefined
  const stop = (): void => {
    const { code, message } = stoppedError(signal) as RotaError
    unit.send({ kind: 'abort', code, message })
    cancelGrace = clock.timer(graceMs, () => unit.kill())
  }
  signal.addEventListener('abort', stop, { once: true })
  return () => {
    cancelGrace()
    signal.removeEventListener('abort', stop)
  }
}

function exited({ isolate }: IsolatedSpec, how: string, output: RunOutput): RotaError {
  const said = output.stderr.tail(5, 1000)
  const message = `its ${isolate.kind} ended before it returned: ${how}${said === '' ? '' : `: ${said}`}`
  return new RotaError('HANDLER_EXITED', message)
}

/** The error as it was thrown there, so that its code, stack and details are stored as usual. */
function thrown({ error, advice }: { readonly error: StoredError; readonly advice: RetryAdvice }): Error {
  const { code, message, stack, details } = error
  const copy = new RotaError('HANDLER_FAILED', message, details === undefined ? {} : { details })
  return withAdvice(Object.assign(copy, { code, stack: stack ?? '', name: 'Error' }), advice)
}
