/**
 * The entry of the thread or process of an isolated handler. It waits for a message that says what to perform, performs
 * it once and sends the result. Then the worker terminates it, whatever the handler has left running.
 */
import { isMainThread, Worker, workerData, type MessagePort } from 'node:worker_threads'
import type { RunContext } from '../../engine/worker/perform.js'
import { sealed, toldIsolated, type FromIsolated, type IsolatedAnswer, type ToIsolated } from './messages.js'
import { boundText, maxLogLineBytes, maxLogLines } from '../../kernel/definition/bounds.js'
import { RotaError, type ErrorCode } from '../../kernel/definition/errors.js'
import { resultOf, storedErrorOf } from '../../kernel/job/result.js'
import { retryAdviceOf } from '../../kernel/job/thrown.js'
import { toHandler } from '../../engine/worker/command-run.js'
import { importFunction } from '../../handlers/module.js'

type Tell = (message: FromIsolated) => void
type Task = Extract<ToIsolated, { kind: 'perform' }>

function begin(): void {
  const controller = new AbortController()
  const hear = (value: unknown): void => {
    const message = toldIsolated(value)
    if (message?.kind === 'perform') void perform(message, controller.signal, tell)
    else if (message?.kind === 'abort') {
      controller.abort(new RotaError(message.code as ErrorCode, message.message))
    }
  }
  const tell = isMainThread ? overProcess(hear) : overPort((workerData as { port: MessagePort }).port, hear)
  // An uncaught error fails the run, because this thread or process performs no other.
  process.on('uncaughtException', (error) => tell(failed(error)))
}

function overPort(port: MessagePort, hear: (value: unknown) => void): Tell {
  port.on('message', hear)
  return (message) => port.postMessage(sealed(message))
}

function overProcess(hear: (value: unknown) => void): Tell {
  // In a thread, because even a handler that blocks the event loop must not outlive its worker.
  new Worker(new URL('./watch.js', import.meta.url), { execArgv: [] }).unref()
  process.on('message', hear)
  return (message) => {
    // The handler may have closed the channel; then the process must exit, or its run would wait forever.
    if (process.connected) process.send?.(sealed(message), () => undefined)
    else if (message.kind !== 'log') process.exit(1)
  }
}

async function perform(task: Task, signal: AbortSignal, tell: Tell): Promise<void> {
  tell(await answerOf(task, signal, tell))
}

async function answerOf(task: Task, signal: AbortSignal, tell: Tell): Promise<IsolatedAnswer> {
  try {
    const handler = toHandler(await importFunction(task, process.cwd()), task)
    return { kind: 'done', result: resultOf(await handler(contextOf(task, signal, tell))) }
  } catch (error) {
    return failed(error)
  }
}

function contextOf({ run }: Task, signal: AbortSignal, tell: Tell): RunContext {
  let lines = 0
  return {
    ...run,
    dueAt: new Date(run.dueAt),
    // Channels drop undefined fields.
    trigger: run.trigger,
    partition: run.partition,
    payload: run.payload,
    signal,
    log: (text: unknown, level = 'info') => {
      const line = boundText(typeof text === 'string' ? text : String(text), maxLogLineBytes)
      // Lines beyond the limit of a stored log need not be sent.
      if (lines++ <= maxLogLines) tell({ kind: 'log', level, text: line })
    },
  }
}

function failed(error: unknown): IsolatedAnswer {
  try {
    return { kind: 'failed', error: storedErrorOf(error, 'HANDLER_FAILED'), advice: retryAdviceOf(error) }
  } catch {
    const message = 'the handler threw something that cannot be shown'
    return { kind: 'failed', error: { code: 'HANDLER_FAILED', message }, advice: {} }
  }
}

begin()
