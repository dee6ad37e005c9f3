/** The filter of the list as text. The server reads it: what is wrong with it, and what fits at a place of it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { QueryHelp } from '../../../../src/client/ui-operations.js'
import { api } from '../../data/api.js'
import type { Completions } from '../../parts/qualifiers.js'

/** What is wrong with a filter; nothing is known while it is being read. */
export function useFaults(q: string, zone: string): QueryHelp['faults'] | undefined {
  const { data } = useQuery({ ...helpQuery({ q, cursor: q.length, zone }), enabled: q !== '' })
  return q === '' ? [] : data?.faults
}

/** What fits at a place of a filter. */
export function useCompletion(zone: string): {
  readonly completions: Completions
  readonly onWrite: (text: string, cursor: number) => void
} {
  const [place, setPlace] = useState<{ q: string; cursor: number }>()
  const { data } = useQuery({
    ...helpQuery({ q: '', cursor: 0, ...place, zone }),
    enabled: place !== undefined,
    placeholderData: keepPreviousData,
  })
  const onWrite = (q: string, cursor: number): void => setPlace({ q, cursor })
  // The last answer stays until the next one is there, but its words no longer fit what is written now.
  const typed = place?.q.slice(data?.from ?? 0, place.cursor) ?? ''
  const options = (data?.options ?? []).filter(({ text }) => text.startsWith(typed))
  return { completions: { from: data?.from ?? 0, to: place?.cursor ?? 0, options }, onWrite }
}

function helpQuery(query: { q: string; cursor: number; zone: string }) {
  return {
    queryKey: ['runs', 'filter', query],
    queryFn: ({ signal }: { signal: AbortSignal }) => api('GET /ui/runs/filter', { query, signal }),
    gcTime: 60_000,
    meta: { topics: ['triggers'] },
  } as const
}

/** A value as a filter takes it: in quotes where it has to be. */
export function quoted(value: string): string {
  return /[\s,"\\]/.test(value) ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : value
}
