import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Run } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { StateMark } from '../../parts/mark.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/now.js'
import styles from './page.module.css'

/** Does anything need me, what runs, what comes. */
export default function NowPage(): ReactNode {
  return (
    <>
      <h1 className="visually-hidden">{words.title}</h1>
      <div className={styles['grid']}>
        <RunsPanel state="failed" title={words.failed} empty={words.nothingFailed} />
        <RunsPanel state="running" title={words.running} empty={words.nothingRuns} />
      </div>
    </>
  )
}

function RunsPanel({
  state,
  title,
  empty,
}: {
  state: Run['state']
  title: string
  empty: string
}): ReactNode {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['runs', { state }],
    queryFn: ({ signal }) => api('GET /runs', { query: { state, limit: 8 }, signal }),
    meta: { topics: ['runs'] },
  })
  return (
    <Panel title={title}>
      <LoadingBar isLoading={isFetching} />
      {data === undefined ? (
        error === null ? (
          <Skeleton />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : data.items.length === 0 ? (
        <EmptyState title={empty} />
      ) : (
        <Table label={title} columns={columns} rows={data.items} rowKey={({ id }) => id} />
      )}
    </Panel>
  )
}

const columns: readonly Column<Run>[] = [
  { key: 'state', head: '', cell: ({ state }) => <StateMark mark={state} label={false} /> },
  { key: 'name', head: words.columns.job, cell: ({ trigger, job }) => trigger ?? job },
  { key: 'error', head: words.columns.error, cell: ({ error }) => error?.message, grows: true },
  { key: 'due', head: words.columns.due, cell: ({ dueAt }) => <Time at={dueAt} />, align: 'end' },
]
