import type { Json } from '../model/json.js'
import { isMap } from '../model/read-value.js'
import type { LogLine, StoredError } from '../model/run.js'
import type { HandledRun } from './handler-context.js'

/** What an isolated handler is told: what to perform, and later perhaps to stop. */
export type ToIsolated =
  | {
      readonly kind: 'perform'
      readonly module: string
      readonly export: string
      readonly run: HandledRun
    }
  | { readonly kind: 'abort'; readonly code: string; readonly message: string }

/** What an isolated handler tells: lines, and once what it came to. */
export type FromIsolated =
  | { readonly kind: 'log'; readonly level: LogLine['level']; readonly text: string }
  | IsolatedAnswer

/** What an isolated handler came to. */
export type IsolatedAnswer =
  | { readonly kind: 'done'; readonly result?: Json | undefined }
  | { readonly kind: 'failed'; readonly error: StoredError; readonly permanent: boolean }

/** A message in its envelope: the module of a handler may send messages of its own, which are not meant. */
export function sealed(message: ToIsolated | FromIsolated): { readonly rota: object } {
  return { rota: message }
}

/** The message of an envelope; undefined for anything else. */
export function unsealed<Message extends ToIsolated | FromIsolated>(value: unknown): Message | undefined {
  const message = isMap(value) ? value['rota'] : undefined
  return isMap(message) && typeof message['kind'] === 'string' ? (message as unknown as Message) : undefined
}
