/** What pages ask about triggers. */
import { queryOptions } from '@tanstack/react-query'
import { api } from './api.js'

/** One trigger. */
export function triggerQuery(name: string) {
  return queryOptions({
    queryKey: ['trigger', name],
    queryFn: ({ signal }) => api('GET /triggers/{name}', { path: { name }, signal }),
    meta: { topics: ['triggers', 'holds'] },
  })
}

/** The next due times of a trigger. */
export function nextQuery(name: string, count: number) {
  return queryOptions({
    queryKey: ['trigger', name, 'next', count],
    queryFn: ({ signal }) => api('GET /triggers/{name}/next', { path: { name }, query: { count }, signal }),
    meta: { topics: ['triggers'] },
  })
}

/** The newest runs of some triggers, newest first. */
export function recentQuery(triggers: readonly string[], each: number) {
  return queryOptions({
    queryKey: ['recent', triggers, each],
    queryFn: ({ signal }) => api('GET /ui/recent', { query: { triggers, each }, signal }),
    meta: { topics: ['runs'] },
    placeholderData: (before) => before,
  })
}

/** The address of the page of a trigger. */
export function triggerHref(name: string): string {
  return `/triggers/${encodeURIComponent(name)}`
}
