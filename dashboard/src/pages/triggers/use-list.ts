import { useQueries, type UseQueryResult } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import type { Operations, Trigger } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import type { TriggerFilter } from './filter.js'

type Page = Operations['GET /triggers']['answer']

/** Rows of a page; also the most that is read again when something changes. */
const pageSize = 100

/** The rows of the list so far, and how to read more. */
export interface TriggerList {
  readonly rows: readonly Trigger[]
  readonly total: Page['total'] | undefined
  readonly isFirstLoad: boolean
  readonly isFetching: boolean
  readonly error: unknown
  readonly more: () => void
  readonly again: () => void
}

/** Reads the list page by page as the reader scrolls. Only the pages near the one on the screen are kept up to date. */
export function useTriggerList({ query, withinMs, error }: TriggerFilter, shownRow: number): TriggerList {
  const key = JSON.stringify([query, withinMs])
  const [{ cursors, of }, setCursors] = useState<Chain>({ cursors: [undefined], of: key })
  const asked = of === key ? cursors : [undefined]
  const shownPage = Math.floor(shownRow / pageSize)
  // Cursors by time move with every run: a list in that order stays as it was read once there is a second page.
  const isFixed = query.order === 'next' && asked.length > 1
  const results = useQueries({
    queries: asked.map((after, index) => ({
      queryKey: ['triggers', query, after],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api('GET /triggers', {
          query: { ...query, limit: pageSize, ...(after === undefined ? {} : { after }) },
          signal,
        }),
      enabled: error === undefined && (Math.abs(index - shownPage) <= 1 || isFixed),
      gcTime: 60_000,
      meta: { topics: ['triggers', 'holds'] as const, isFixed },
    })),
  })
  const last = results.at(-1)?.data?.next ?? null
  const firstBroken = brokenAt(asked, results)
  useEffect(() => {
    // A trigger came or went: the pages behind it begin elsewhere.
    if (firstBroken < 0) return
    setCursors((chain) =>
      chain.of === key ? { cursors: chain.cursors.slice(0, firstBroken), of: key } : chain,
    )
  }, [firstBroken, key])
  const more = useCallback(() => {
    if (last === null) return
    setCursors((chain) => {
      const known = chain.of === key ? chain.cursors : [undefined]
      return known.includes(last) ? chain : { cursors: [...known, last], of: key }
    })
  }, [last, key])
  const rows = results.flatMap(({ data }) => data?.items ?? [])
  const until = withinMs === undefined ? undefined : Date.now() + withinMs
  return {
    rows:
      until === undefined ? rows : rows.filter(({ nextAt }) => nextAt !== null && Date.parse(nextAt) < until),
    total: withinMs === undefined ? results[0]?.data?.total : undefined,
    isFirstLoad: results[0]?.data === undefined,
    isFetching: results.some(({ isFetching }) => isFetching),
    error: results.find((one) => one.error !== null)?.error ?? null,
    more: until !== undefined && isPast(rows.at(-1), until) ? nothing : more,
    again: () => void Promise.all(results.map(({ refetch }) => refetch())),
  }
}

interface Chain {
  readonly cursors: readonly (string | undefined)[]
  readonly of: string
}

function nothing(): void {}

function isPast(row: Trigger | undefined, until: number): boolean {
  return row !== undefined && (row.nextAt === null || Date.parse(row.nextAt) >= until)
}

/** The first page that no longer begins where the one before it ends; -1 if there is none. */
function brokenAt(
  cursors: readonly (string | undefined)[],
  results: readonly UseQueryResult<Page>[],
): number {
  return cursors.findIndex((cursor, index) => {
    const before = results[index - 1]?.data
    return before !== undefined && cursor !== (before.next ?? undefined)
  })
}
