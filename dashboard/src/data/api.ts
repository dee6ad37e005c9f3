import { ApiError, createClient } from '../../../src/client/client.js'
import type { Operations } from '../../../src/client/operations.js'
import type { UiOperations } from '../../../src/client/ui-operations.js'
import { words } from '../words/common.js'

/** The API of the server that served the page, below the same path; its private routes too. */
export const api = createClient<Operations & UiOperations>({ url: '.' })

/** Whether the server asks the reader to sign in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}

/** What went wrong with a change, for the reader. */
export function problemOf(error: unknown): string {
  return error instanceof ApiError ? error.message : words.error.unreachable
}

/** Whether an error is shown together with content that was read before; the shell reports a server that does not answer. */
export function isToldBeside(error: unknown): boolean {
  return error instanceof ApiError
}

/** Whether the error means that something does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

/** The longest page of a list. */
const limit = 500

/** Reads all pages of a list that a page shows whole. */
export async function wholeList<Item>(
  read: (page: { limit: number; after?: string }) => Promise<{
    readonly items: readonly Item[]
    readonly next: string | null
  }>,
): Promise<{ readonly items: readonly Item[] }> {
  const items: Item[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const page = await read(after === undefined ? { limit } : { limit, after })
    items.push(...page.items)
    after = page.next
  }
  return { items }
}
