/** The messages between the process of an app and its reader process. */
import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'
import type { Address } from '../../server/listen.js'

/** The settings of the reader process, in its first message. */
export interface ApiProcessData {
  readonly url: string
  readonly durability: 'full' | 'normal'
  readonly directory: string
  readonly readOnly: boolean | undefined
  /** Where to listen; undefined if the surrounding program has its own server. */
  readonly listen:
    | {
        readonly host: string
        readonly port: number | undefined
        readonly isLoopback: boolean
        readonly requestsPerSecond: number | undefined
      }
    | undefined
}

/** A message of the reader process, besides requests and answers. `keep`: computed state that the app writes for it. */
export type ReaderMessage =
  | { readonly listening: Address | undefined }
  | { readonly failed: ErrorData }
  | { readonly trouble: ErrorData }
  | { readonly keep: Parameters<Store['changeState']>[0] }
  | 'open'
  | 'files'

/** A message of the app, besides requests and answers. `opened`: the store is open, or why not; `files`: the answer to `files`. */
export type AppMessage =
  | 'stop'
  | 'wake'
  | { readonly start: ApiProcessData }
  | { readonly opened: ErrorData | undefined }
  | { readonly files: readonly string[] }

/** An error as data. */
export interface ErrorData {
  readonly code: string | undefined
  readonly message: string
  readonly stack: string | undefined
}

/** Converts an error for the other process. */
export function errorData(error: unknown): ErrorData {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return { code: error instanceof RotaError ? error.code : undefined, message, stack }
}
