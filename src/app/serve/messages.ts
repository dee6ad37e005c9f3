/** What the thread of an app and the one that reads for it tell each other. */
import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'
import type { Address } from '../../server/listen.js'

/** The data from the thread of the app. */
export interface ApiThreadData {
  readonly url: string
  readonly durability: 'full' | 'normal'
  readonly directory: string
  readonly readOnly: boolean | undefined
  /** Where to listen; undefined: nowhere, since the program around has its own server. */
  readonly listen:
    | { readonly host: string; readonly port: number | undefined; readonly isLoopback: boolean }
    | undefined
  /** The shared memory of the exit gate. */
  readonly gate: SharedArrayBuffer
}

/** A message of this thread, besides requests and answers. `keep`: what it computed and may not write itself. */
export type ApiThreadMessage =
  | { readonly listening: Address | undefined }
  | { readonly failed: Told }
  | { readonly trouble: Told }
  | { readonly keep: Parameters<Store['changeState']>[0] }
  | 'open'

/** A message of the thread of the app, besides requests and answers. `opened`: the store is there, or why not. */
export type AppThreadMessage = 'stop' | 'wake' | { readonly opened: Told | undefined }

/** What is told of an error. */
export interface Told {
  readonly code: string | undefined
  readonly message: string
  readonly stack: string | undefined
}

/** What is told of an error to the other thread. */
export function told(error: unknown): Told {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return { code: error instanceof RotaError ? error.code : undefined, message, stack }
}
