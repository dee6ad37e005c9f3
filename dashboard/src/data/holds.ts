import { queryOptions } from '@tanstack/react-query'
import type { Hold } from '../../../src/client/operations.js'
import { words } from '../words/common.js'
import { api } from './api.js'

/** What is held back now: triggers, queues, switches and everything. */
export const holdsQuery = queryOptions({
  queryKey: ['holds'],
  queryFn: ({ signal }) => api('GET /holds', { signal }),
  meta: { topics: ['holds'] },
})

/** What holds a target back now: read before it ends, so that it can be restored. */
export async function holdOn(target: string): Promise<Hold | undefined> {
  const { items } = await api('GET /holds')
  return items.find((hold) => hold.target === target)
}

/** A hold that is restored: with the same reason, and until the same time. */
export function asHeld(hold: Hold | null | undefined): { reason: string; until?: string } {
  const reason = hold == null || hold.note === '' ? words.undoReason : hold.note
  return hold?.untilAt == null ? { reason } : { reason, until: hold.untilAt }
}
