import { useInfiniteQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import type { Trigger } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { readFilter } from './filter.js'
import { waitUntil } from './wait.js'

/** Lanes are read in pages; the marks of a page are read together. */
const pageSize = 50
/** Every run moves a trigger, so the list would be read again all the time: at most this often, for each page that was read. */
const againMs = 3000

/** Triggers that have a lane, as far as they were read. */
export interface Lanes {
  readonly pages: readonly (readonly Trigger[])[]
  readonly triggers: readonly Trigger[]
  readonly total: { readonly count: number; readonly capped: boolean } | undefined
  readonly isLoading: boolean
  readonly error: Error | null
  readonly readMore: () => void
  readonly retry: () => void
}

/** Reads the triggers that a filter names. */
export function useLanes(filter: string): Lanes {
  const { trigger } = readFilter(filter)
  const query = useInfiniteQuery({
    queryKey: ['lanes', trigger],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ signal, pageParam, client, queryKey }) => {
      const state = client.getQueryState(queryKey)
      const pages = (state?.data as { pages: unknown[] } | undefined)?.pages.length ?? 0
      const isAgain = state?.fetchMeta === null && pages > 0
      if (isAgain && pageParam === undefined)
        await waitUntil((state?.dataUpdatedAt ?? 0) + pages * againMs, signal)
      return await api('GET /triggers', {
        query: { ...trigger, limit: pageSize, ...(pageParam === undefined ? {} : { after: pageParam }) },
        signal,
      })
    },
    getNextPageParam: ({ next }) => next ?? undefined,
    meta: { topics: ['triggers', 'holds'] },
  })
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query
  const readMore = useCallback(() => {
    // A list that is read again meanwhile must not keep the reader from going on.
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  // The same lists as long as nothing was read: what is drawn from them is remembered.
  const pages = useMemo(() => data?.pages.map(({ items }) => items) ?? [], [data])
  const triggers = useMemo(() => pages.flat(), [pages])
  return {
    pages,
    triggers,
    total: data?.pages[0]?.total,
    isLoading: query.isPending || isFetchingNextPage,
    error: query.error,
    readMore,
    retry: () => void refetch(),
  }
}
