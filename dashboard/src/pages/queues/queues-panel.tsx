import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Hold, Queue } from '../../../../src/client/operations.js'
import { api, wholeList } from '../../data/api.js'
import { formatCount, formatDuration } from '../../data/format.js'
import { holdsQuery } from '../../data/holds.js'
import { printable } from '../../data/printable.js'
import { useMay } from '../../data/session.js'
import { Button } from '../../parts/button.js'
import { LoadBar } from '../../parts/charts/load-bar.js'
import { LongName } from '../../parts/text/long-name.js'
import { StateMark } from '../../parts/state-mark.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/queues.js'
import styles from './page.module.css'
import { PauseQueueDialog, ResumeQueueDialog } from './queue-dialogs.js'

interface Row extends Queue {
  readonly hold: Hold | undefined
}

/** All queues: how many runs wait, for how long, what runs, and the limit. */
export function QueuesPanel(): ReactNode {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['queues'],
    queryFn: ({ signal }) => wholeList((query) => api('GET /queues', { query, signal })),
    meta: { topics: ['runs', 'holds', 'triggers'] },
  })
  const { data: holds } = useQuery(holdsQuery)
  const rows = data?.items.map(
    (queue): Row => ({ ...queue, hold: holds?.items.find(({ target }) => target === `queue:${queue.name}`) }),
  )
  return (
    <Panel title={words.queues.title} aside={rows === undefined ? undefined : formatCount(rows.length)}>
      <LoadingBar isLoading={isFetching && rows !== undefined} />
      {rows === undefined ? (
        error === null ? (
          <Skeleton />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : rows.length === 0 ? (
        <EmptyState title={words.queues.none} code={words.queues.code} afterwards={words.queues.afterwards}>
          {words.queues.teach}
        </EmptyState>
      ) : (
        <Table label={words.queues.title} columns={columns} rows={rows} rowKey={({ name }) => name} />
      )}
    </Panel>
  )
}

const columns: readonly Column<Row>[] = [
  {
    key: 'name',
    head: words.queues.name,
    grows: true,
    cell: ({ name }) => (
      <Link href={runsHref(`queue:${name}`)} title={name} aria-label={name}>
        <LongName>{name}</LongName>
      </Link>
    ),
  },
  { key: 'state', head: words.queues.state, cell: (row) => <QueueState row={row} /> },
  {
    key: 'ready',
    head: words.queues.ready,
    align: 'end',
    cell: ({ name, ready }) => <Waiting name={name} count={ready} />,
  },
  {
    key: 'oldest',
    head: words.queues.oldest,
    align: 'end',
    isExtra: true,
    isEmpty: ({ oldestReadyAt }) => oldestReadyAt === null,
    cell: ({ oldestReadyAt }) => (oldestReadyAt === null ? null : <Time at={oldestReadyAt} />),
  },
  {
    key: 'delayed',
    head: <span title={words.queues.delayedHint}>{words.queues.delayed}</span>,
    align: 'end',
    isExtra: true,
    cell: ({ name, delayed }) => <Waiting name={name} count={delayed} />,
  },
  {
    key: 'blocked',
    head: <span title={words.queues.blockedHint}>{words.queues.blocked}</span>,
    align: 'end',
    isExtra: true,
    cell: ({ name, blocked }) => <Waiting name={name} count={blocked} />,
  },
  {
    key: 'running',
    head: words.queues.running,
    cell: ({ name, running, concurrency }) => (
      <LoadBar label={words.queues.load(name)} used={running} limit={concurrency} />
    ),
  },
  {
    key: 'starts',
    head: words.queues.starts,
    isExtra: true,
    isEmpty: ({ limit }) => limit === null,
    cell: ({ limit }) => (limit === null ? null : words.queues.rate(limit.max, formatDuration(limit.perMs))),
  },
  { key: 'action', head: '', align: 'end', cell: (row) => <QueueAction row={row} /> },
]

function runsHref(filter: string): string {
  return `/runs?q=${encodeURIComponent(filter)}`
}

/** How many runs of a queue wait, and the way to them. */
function Waiting({ name, count }: { name: string; count: number }): ReactNode {
  return <Link href={runsHref(`queue:${name} state:pending`)}>{formatCount(count)}</Link>
}

function QueueState({ row: { paused, hold } }: { row: Row }): ReactNode {
  if (!paused) return <StateMark mark="on" label={words.queues.open} />
  return (
    <span className={styles['why']}>
      <StateMark
        mark="paused"
        label={hold === undefined ? words.queues.paused : words.queues.pausedBy(printable(hold.by))}
      />
      {hold === undefined || hold.note === '' ? null : (
        <q className="soft" title={printable(hold.note)}>
          {printable(hold.note)}
        </q>
      )}
      {hold?.untilAt == null ? null : (
        <span className="soft">
          {words.until} <Time at={hold.untilAt} />
        </span>
      )}
    </span>
  )
}

function QueueAction({ row: { name, paused, ready } }: { row: Row }): ReactNode {
  const { why } = useMay('operate')
  // As it was when the button was pressed: the dialog does not change while it is open.
  const [asking, setAsking] = useState<'pause' | 'resume'>()
  const close = (): void => setAsking(undefined)
  return (
    <>
      <Button why={why} onClick={() => setAsking(paused ? 'resume' : 'pause')}>
        {paused ? words.queues.resume : words.queues.pause}
      </Button>
      {asking === undefined ? null : asking === 'resume' ? (
        <ResumeQueueDialog name={name} ready={ready} onClose={close} />
      ) : (
        <PauseQueueDialog name={name} onClose={close} />
      )}
    </>
  )
}
