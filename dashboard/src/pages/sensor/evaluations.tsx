import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { Evaluation } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount, formatDuration } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import type { Mark } from '../../design/marks.js'
import { Button } from '../../parts/button.js'
import { StateMark } from '../../parts/state-mark.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/sensors.js'
import styles from './page.module.css'

const step = 50
const most = 500

/** The polls and deliveries of a sensor, newest first, each with its reason. */
export function Evaluations({ name }: { name: string }): ReactNode {
  const [limit, setLimit] = useState(step)
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['sensor', name, 'evaluations', limit],
    queryFn: ({ signal }) =>
      api('GET /sensors/{name}/evaluations', { path: { name }, query: { limit }, signal }),
    meta: { topics: ['runs', 'ledger', 'triggers'] },
    placeholderData: (before) => before,
  })
  return (
    <Panel title={words.evaluations.title}>
      <LoadingBar isLoading={isFetching && data !== undefined} />
      {data === undefined ? (
        error === null ? (
          <Skeleton rows={6} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : data.items.length === 0 ? (
        <EmptyState title={words.evaluations.none} />
      ) : (
        <>
          <Table
            label={words.evaluations.title}
            columns={columns}
            rows={data.items}
            rowKey={({ number }) => String(number)}
          />
          {data.items.length === limit && limit < most ? (
            <div className={styles['more']}>
              <Button tone="quiet" onClick={() => setLimit(limit + step)}>
                {words.evaluations.older}
              </Button>
            </div>
          ) : null}
        </>
      )}
    </Panel>
  )
}

const looks: Readonly<Record<Evaluation['kind'], Mark>> = {
  trigger: 'done',
  delivered: 'done',
  'no-trigger': 'not-due',
  error: 'failed',
}

const columns: readonly Column<Evaluation>[] = [
  {
    key: 'at',
    head: words.evaluations.at,
    cell: ({ untilAt }) => <Time at={untilAt} />,
  },
  {
    key: 'kind',
    head: words.evaluations.kind,
    cell: ({ kind }) => <StateMark mark={looks[kind]} label={words.kinds[kind]} />,
  },
  {
    key: 'reason',
    head: words.evaluations.reason,
    grows: true,
    cell: ({ reason, count }) => {
      const text = [
        ...(reason === null ? [] : [printable(reason)]),
        ...(count > 1 ? [words.evaluations.times(count)] : []),
      ].join(' · ')
      return <span title={text}>{text}</span>
    },
  },
  {
    key: 'found',
    head: words.evaluations.found,
    align: 'end',
    isExtra: true,
    cell: ({ fresh, observations }) =>
      observations === 0 ? null : `${formatCount(fresh)} / ${formatCount(observations)}`,
  },
  {
    key: 'took',
    head: words.evaluations.took,
    align: 'end',
    isExtra: true,
    cell: ({ tookMs }) => formatDuration(tookMs),
  },
]
