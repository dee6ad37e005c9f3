import type { Json } from '../../kernel/definition/json.js'
import { isMap, type Written } from '../../kernel/definition/read-value.js'
import type { RetryAdvice } from '../../kernel/job/thrown.js'
import type { LogLine, StoredError } from '../../kernel/run/run.js'
import type { HandledRun } from '../../handlers/handler-context.js'

/** What the worker sends to an isolated handler: what to perform, and later perhaps to stop. */
export type ToIsolated =
  | {
      readonly kind: 'perform'
      readonly module: string
      readonly export: string
      /** Whether the function gets a command instead of a run. */
      readonly takesCommands: boolean
      readonly run: HandledRun
    }
  | { readonly kind: 'abort'; readonly code: string; readonly message: string }

/** What an isolated handler sends: log lines, and once its result. */
export type FromIsolated =
  | { readonly kind: 'log'; readonly level: LogLine['level']; readonly text: string }
  | IsolatedAnswer

/** The result of an isolated handler. */
export type IsolatedAnswer =
  | { readonly kind: 'done'; readonly result?: Json | undefined }
  | { readonly kind: 'failed'; readonly error: StoredError; readonly advice: RetryAdvice }

/** Wraps a message in an envelope, because the module of a handler may send its own messages, which must be ignored. */
export function sealed(message: ToIsolated | FromIsolated): { readonly rota: object } {
  return { rota: message }
}

/** The content of a message of the worker; undefined for any other message. */
export function toldIsolated(value: unknown): ToIsolated | undefined {
  const message = contentOf(value)
  return message?.['kind'] === 'perform' || message?.['kind'] === 'abort'
    ? (message as unknown as ToIsolated)
    : undefined
}

/** The content of a message of an isolated handler; undefined for any other message. */
export function heardFrom(value: unknown): FromIsolated | undefined {
  const message = contentOf(value)
  if (message?.['kind'] === 'done') return { kind: 'done', result: message['result'] as Json | undefined }
  if (message?.['kind'] === 'log') {
    const { level, text } = message
    const known = levels.find((one) => one === level)
    return known !== undefined && typeof text === 'string' ? { kind: 'log', level: known, text } : undefined
  }
  if (message?.['kind'] !== 'failed' || !isError(message['error'])) return undefined
  return {
    kind: 'failed',
    error: message['error'],
    advice: isMap(message['advice']) ? message['advice'] : {},
  }
}

const levels: readonly LogLine['level'][] = ['debug', 'info', 'warn', 'error']

function contentOf(value: unknown): Written | undefined {
  const content = isMap(value) ? value['rota'] : undefined
  return isMap(content) ? content : undefined
}

function isError(value: unknown): value is StoredError {
  if (!isMap(value)) return false
  const { code, message, stack = '' } = value
  return [code, message, stack].every((one) => typeof one === 'string')
}
