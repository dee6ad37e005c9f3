import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Run } from '../../../src/client/operations.js'
import type { Mark } from '../design/marks.js'
import { api } from './api.js'

/** One run. */
export function runQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id],
    queryFn: ({ signal }) => api('GET /runs/{id}', { path: { id }, signal }),
    meta: { topics: ['runs'] },
  })
}

/** The attempts of a run. */
export function attemptsQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id, 'attempts'],
    queryFn: ({ signal }) => api('GET /runs/{id}/attempts', { path: { id }, signal }),
    meta: { topics: ['runs'] },
  })
}

/** Why a run has not been started. */
export function pendingQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id, 'pending'],
    queryFn: ({ signal }) => api('GET /runs/{id}/pending', { path: { id }, signal }),
    meta: { topics: ['runs', 'holds'] },
  })
}

/** How many attempts jobs allow, by job; jobs without a definition are left out. */
export function useAttempts(jobs: readonly string[]): ReadonlyMap<string, number> {
  const asked = [...new Set(jobs)].toSorted().slice(0, mostJobs)
  const { data } = useQuery({
    queryKey: ['attempts', asked],
    queryFn: ({ signal }) => api('GET /ui/attempts', { query: { jobs: asked }, signal }),
    enabled: asked.length > 0,
    placeholderData: (before) => before,
    meta: { topics: ['triggers'] },
  })
  return useMemo(() => new Map(data?.items.map(({ job, attempts }) => [job, attempts])), [data])
}

/** The server answers for so many at once. */
const mostJobs = 100

/** The mark of a run: a run that failed and will be retried differs from one that only waits. */
export function runMark({ state, attempt }: Pick<Run, 'state' | 'attempt'>): Mark {
  return state === 'pending' && attempt > 0 ? 'retrying' : state
}
