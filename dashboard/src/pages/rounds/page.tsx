import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, wholeList } from '../../data/api.js'
import { useParams } from '../../data/location.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { words } from '../../words/rounds.js'
import styles from './page.module.css'
import { RoundPanel } from './round-panel.js'

/** All rounds: the cycle that is open, what is left of it, results, and the timing of each service. */
export default function RoundsPage(): ReactNode {
  const [params, change] = useParams()
  const all = params.get('all') === 'true'
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['rounds', all],
    queryFn: ({ signal }) =>
      wholeList((page) => api('GET /rounds', { query: all ? { ...page, all: 'true' } : page, signal })),
    meta: { topics: ['runs', 'triggers', 'holds'] },
    placeholderData: (before) => before,
  })
  const { data: services } = useQuery({
    queryKey: ['services'],
    queryFn: ({ signal }) => api('GET /services', { signal }),
    meta: { topics: ['runs'] },
  })
  return (
    <div className={styles['page']}>
      <header className={styles['head']}>
        <h1>{words.title}</h1>
        <label className={styles['choice']}>
          <input
            type="checkbox"
            checked={all}
            onChange={() => change({ all: all ? null : 'true' }, { replace: true })}
          />
          {words.showStopped}
        </label>
      </header>
      <LoadingBar isLoading={isFetching && data !== undefined} />
      {data === undefined ? (
        error === null ? (
          <Skeleton rows={8} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : data.items.length === 0 ? (
        <EmptyState title={words.empty.title} command={words.empty.command} code={words.empty.code}>
          {words.empty.text}
        </EmptyState>
      ) : (
        data.items.map((round) => (
          <RoundPanel key={round.name} round={round} services={services?.items ?? []} />
        ))
      )}
    </div>
  )
}
