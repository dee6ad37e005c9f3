import { useQuery } from '@tanstack/react-query'
import { api } from '../../data/api.js'
import type { Qualifier } from '../../parts/qualifiers.js'
import { words } from '../../words/runs.js'

/** What a filter of runs can have, with the names that the store knows. */
export function useRunQualifiers(): readonly Qualifier[] {
  const { data: jobs } = useQuery({
    queryKey: ['jobs'],
    queryFn: ({ signal }) => api('GET /jobs', { signal }),
    meta: { topics: ['triggers'] },
  })
  const { data: triggers } = useQuery({
    queryKey: ['triggers', 'names'],
    queryFn: ({ signal }) => api('GET /triggers', { query: { limit: 500, state: 'any' }, signal }),
    meta: { topics: ['triggers'] },
  })
  const { state, job, trigger } = words.qualifiers
  return [
    { name: 'state', about: state, values: ['pending', 'running', 'done', 'failed', 'cancelled'] },
    { name: 'job', about: job, values: jobs?.items.map(({ name }) => name) ?? [] },
    { name: 'trigger', about: trigger, values: triggers?.items.map(({ name }) => name) ?? [] },
  ]
}
