import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Caller } from '../../../src/client/operations.js'
import { words } from '../words/common.js'
import { api } from './api.js'

/** What a caller may do; each role may do what the ones before it may. */
export type Role = Caller['role']

const ranks: readonly Role[] = ['read', 'operate', 'admin']

/** Who uses the page. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => api('GET /session', { signal }),
  meta: { isFixed: true },
})

/** Whether the reader may do something that needs a role; if not, the sentence that says why. */
export function useMay(
  needed: Role,
  { isChange = true }: { readonly isChange?: boolean } = {},
): { readonly may: boolean; readonly why: string | undefined } {
  const { data } = useQuery(sessionQuery)
  if (data === undefined) return { may: false, why: undefined }
  if (isChange && data.readOnly) return { may: false, why: words.role.readOnly }
  return ranks.indexOf(data.role) >= ranks.indexOf(needed)
    ? { may: true, why: undefined }
    : { may: false, why: words.role.needed(data, needed) }
}
