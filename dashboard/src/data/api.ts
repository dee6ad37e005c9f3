import { ApiError, createClient } from '../../../src/client/client.js'
import type { Operations } from '../../../src/client/operations.js'
import type { UiOperations } from '../../../src/client/ui-operations.js'

/** The API of the server that served the page, below the same path; its private routes too. */
export const api = createClient<Operations & UiOperations>({ url: '.' })

/** Whether the server asks the reader to sign in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}

/** Whether something is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}
