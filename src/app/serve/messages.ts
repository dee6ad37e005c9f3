/** What the process of an app and the one that reads for it tell each other. */
import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'
import type { Address } from '../../server/listen.js'

/** How the process is to read, as its first message says. */
export interface ApiProcessData {
  readonly url: string
  readonly durability: 'full' | 'normal'
  readonly directory: string
  readonly readOnly: boolean | undefined
  /** Where to listen; undefined: nowhere, since the program around has its own server. */
  readonly listen:
    | { readonly host: string; readonly port: number | undefined; readonly isLoopback: boolean }
    | undefined
}

/** A message of the process that reads, besides requests and answers. `keep`: what it computed and may not write itself. */
export type ReaderMessage =
  | { readonly listening: Address | undefined }
  | { readonly failed: Told }
  | { readonly trouble: Told }
  | { readonly keep: Parameters<Store['changeState']>[0] }
  | 'open'

/** A message of the app, besides requests and answers. `opened`: the store is there, or why not. */
export type AppMessage =
  | 'stop'
  | 'wake'
  | { readonly start: ApiProcessData }
  | { readonly opened: Told | undefined }

/** What is told of an error. */
export interface Told {
  readonly code: string | undefined
  readonly message: string
  readonly stack: string | undefined
}

/** What is told of an error to the other process. */
export function told(error: unknown): Told {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return { code: error instanceof RotaError ? error.code : undefined, message, stack }
}
