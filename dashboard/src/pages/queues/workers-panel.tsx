import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Worker } from '../../../../src/client/operations.js'
import { api, wholeList } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { useMay } from '../../data/session.js'
import type { Mark } from '../../design/marks.js'
import { Button } from '../../parts/button.js'
import { LoadBar } from '../../parts/charts/load-bar.js'
import { StateMark } from '../../parts/state-mark.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/queues.js'
import { DrainDialog } from './drain-dialog.js'
import styles from './page.module.css'

/** The stream does not report heartbeats, so the list is read again at the interval of heartbeats. */
const beatMs = 5000

/** The processes that work on the store: their roles, load and last heartbeat. */
export function WorkersPanel(): ReactNode {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['workers'],
    queryFn: ({ signal }) => wholeList((query) => api('GET /workers', { query, signal })),
    meta: { topics: ['runs'] },
    refetchInterval: beatMs,
  })
  const rows = data?.items
  return (
    <Panel title={words.workers.title} aside={rows === undefined ? undefined : formatCount(rows.length)}>
      <LoadingBar isLoading={isFetching && rows !== undefined} />
      {rows === undefined ? (
        error === null ? (
          <Skeleton />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : rows.length === 0 ? (
        <EmptyState title={words.workers.none} command="rota up">
          {words.workers.teach}
        </EmptyState>
      ) : (
        <Table label={words.workers.title} columns={columns} rows={rows} rowKey={({ id }) => id} />
      )}
    </Panel>
  )
}

const looks: Readonly<Record<Worker['standing'], Mark>> = { live: 'on', late: 'late', gone: 'missed' }

const columns: readonly Column<Worker>[] = [
  {
    key: 'id',
    head: words.workers.process,
    grows: true,
    cell: ({ id }) => (
      <Link href={`/runs?q=${encodeURIComponent(`worker:${id}`)}`} className="mono" title={id}>
        {id}
      </Link>
    ),
  },
  {
    key: 'standing',
    head: words.workers.standing,
    cell: ({ standing, isDraining }) => (
      <span className={styles['why']}>
        <StateMark mark={looks[standing]} label={words.workers.standings[standing]} />
        {isDraining ? <StateMark mark="paused" label={words.workers.draining} /> : null}
      </span>
    ),
  },
  { key: 'roles', head: words.workers.roles, isExtra: true, cell: ({ roles }) => roles.join(', ') },
  {
    key: 'load',
    head: words.workers.load,
    cell: ({ id, running, slots }) => (
      <LoadBar
        label={words.workers.loadOf(id)}
        used={running}
        limit={typeof slots === 'number' ? slots : null}
      />
    ),
  },
  {
    key: 'started',
    head: words.workers.started,
    isExtra: true,
    cell: ({ startedAt }) => <Time at={startedAt} />,
  },
  {
    key: 'beat',
    head: words.workers.beat,
    isExtra: true,
    cell: ({ lastBeatAt }) => (typeof lastBeatAt === 'string' ? <Time at={lastBeatAt} /> : null),
  },
  { key: 'version', head: words.workers.version, isExtra: true, cell: ({ version }) => version },
  { key: 'action', head: '', align: 'end', cell: (worker) => <DrainAction worker={worker} /> },
]

function DrainAction({ worker }: { worker: Worker }): ReactNode {
  const { why } = useMay('operate')
  // As it was when the button was pressed: the dialog does not change while it is open.
  const [asked, setAsked] = useState<Worker>()
  const gone = worker.standing === 'gone' ? words.workers.goneWhy : undefined
  return (
    <>
      <Button why={why ?? gone} onClick={() => setAsked(worker)}>
        {worker.isDraining ? words.workers.undrain : words.workers.drain}
      </Button>
      {asked === undefined ? null : <DrainDialog worker={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}
