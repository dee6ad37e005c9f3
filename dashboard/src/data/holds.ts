import { queryOptions } from '@tanstack/react-query'
import type { Hold } from '../../../src/client/operations.js'
import { words } from '../words/common.js'
import { api, wholeList } from './api.js'

/** All that is held back now: triggers, queues, switches and everything. */
export const holdsQuery = queryOptions({
  queryKey: ['holds'],
  queryFn: ({ signal }) => wholeList((query) => api('GET /holds', { query, signal })),
  meta: { topics: ['holds'] },
})

/** What holds one target back now, or null. */
export function holdQuery(target: string) {
  return queryOptions({
    queryKey: ['holds', target],
    queryFn: async ({ signal }) => (await holdOn(target, signal)) ?? null,
    meta: { topics: ['holds'] },
  })
}

/** What holds a target back now: read before it ends, so that it can be restored. */
export async function holdOn(target: string, signal?: AbortSignal): Promise<Hold | undefined> {
  const { items } = await api('GET /holds', { query: { target }, ...(signal === undefined ? {} : { signal }) })
  return items[0]
}

/** What holds triggers back now: read before it ends, so that it can be restored. */
export async function heldNow(names: readonly string[]): Promise<readonly Hold[]> {
  const [only] = names.length === 1 ? names : []
  const { items } = await (only === undefined
    ? wholeList((query) => api('GET /holds', { query }))
    : api('GET /holds', { query: { target: `trigger:${only}` } }))
  return items
}

/** A hold that is restored: with the same reason, and until the same time. */
export function asHeld(hold: Hold | null | undefined): { reason: string; until?: string } {
  const reason = hold == null || hold.note === '' ? words.undoReason : hold.note
  return hold?.untilAt == null ? { reason } : { reason, until: hold.untilAt }
}
