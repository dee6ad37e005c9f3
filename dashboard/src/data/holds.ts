import { queryOptions } from '@tanstack/react-query'
import { api } from './api.js'

/** What is held back now: triggers, queues, switches and everything. */
export const holdsQuery = queryOptions({
  queryKey: ['holds'],
  queryFn: ({ signal }) => api('GET /holds', { signal }),
  meta: { topics: ['holds'] },
})
