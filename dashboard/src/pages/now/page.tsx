import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../../data/api.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/now.js'
import { LastDay } from './last-day.js'
import { Needs } from './needs.js'
import { NextHour } from './next-hour.js'
import styles from './page.module.css'
import { Running } from './running.js'

/** Does anything need me, what runs, what comes. */
export default function NowPage(): ReactNode {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['now'],
    queryFn: ({ signal }) => api('GET /ui/now', { signal }),
    // Time passes on this page also where nothing changes: what comes next, and what is late.
    refetchInterval: 15_000,
    meta: { topics: ['runs', 'ledger', 'triggers', 'holds'] },
  })
  const isQuiet = data?.upcoming.count === 0 && data.day.total.done + data.day.total.failed === 0
  const { data: triggers } = useQuery({
    queryKey: ['triggers', 'any'],
    queryFn: ({ signal }) => api('GET /triggers', { query: { limit: 1, state: 'any' }, signal }),
    enabled: isQuiet,
    meta: { topics: ['triggers'] },
  })
  if (data === undefined) {
    return error === null ? (
      <Skeleton rows={10} />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    )
  }
  const { title, text } = words.empty
  return (
    <div className={styles['page']}>
      <h1 className="visually-hidden">{words.title}</h1>
      <LoadingBar isLoading={isFetching} />
      {triggers?.items.length === 0 ? (
        <div className={styles['teach']}>
          <EmptyState title={title} {...common.firstTrigger}>
            {text}
          </EmptyState>
        </div>
      ) : null}
      <div className={styles['grid']}>
        <div className={styles['column']}>
          <Needs now={data} />
          <Running now={data} />
        </div>
        <div className={styles['column']}>
          <NextHour upcoming={data.upcoming} />
          <LastDay day={data.day} />
        </div>
      </div>
    </div>
  )
}
