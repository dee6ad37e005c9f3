import { useQuery } from '@tanstack/react-query'
import { useMemo, useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { LedgerEntry, Run } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatDuration } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import { runMark, useAttempts } from '../../data/runs.js'
import { Button } from '../../parts/button.js'
import { RangeDetail } from '../../parts/text/range-detail.js'
import { StateMark } from '../../parts/state-mark.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { WhyButton } from '../../parts/why/why-button.js'
import { attemptText } from '../../words/run.js'
import { words } from '../../words/trigger.js'
import styles from './page.module.css'

/** A run, or a range of instants that did not run. */
type Entry =
  | { readonly kind: 'run'; readonly at: string; readonly run: Run }
  | { readonly kind: 'range'; readonly at: string; readonly range: LedgerEntry }

const pageSize = 25
const mostPages = 20
/** Enough to tell the runs of one trigger apart; the rest is in the title. */
const shortId = 12

/** The results of the due times, newest first: runs, and ranges without runs with their rule. */
export function History({ name }: { name: string }): ReactNode {
  const [pages, setPages] = useState(1)
  const limit = pageSize * pages
  const runs = useQuery({
    queryKey: ['runs', { trigger: name, limit }],
    queryFn: ({ signal }) => api('GET /runs', { query: { trigger: name, limit }, signal }),
    meta: { topics: ['runs'] },
    placeholderData: (before) => before,
  })
  const ranges = useQuery({
    queryKey: ['ledger', { trigger: name, limit }],
    queryFn: ({ signal }) => api('GET /ledger', { query: { trigger: name, limit, reason: notable }, signal }),
    meta: { topics: ['ledger'] },
    placeholderData: (before) => before,
  })
  const allowed = useAttempts((runs.data?.items ?? []).map(({ job }) => job))
  const columns = useMemo(() => columnsOf(allowed), [allowed])
  const error = runs.error ?? ranges.error
  if (runs.data === undefined || ranges.data === undefined) {
    return error === null ? (
      <Skeleton rows={6} />
    ) : (
      <ErrorState error={error} onRetry={() => void Promise.all([runs.refetch(), ranges.refetch()])} />
    )
  }
  const entries = merged(
    { items: runs.data.items, isMore: runs.data.next !== null },
    { items: ranges.data.items, isMore: ranges.data.next !== null },
  )
  const isMore = runs.data.next !== null || ranges.data.next !== null
  if (entries.length === 0) return <EmptyState title={words.history.none} />
  return (
    <>
      <LoadingBar isLoading={runs.isFetching || ranges.isFetching} />
      <Table label={words.tabs.history} columns={columns} rows={entries} rowKey={keyOf} />
      {isMore ? (
        <div className={styles['more']}>
          {pages < mostPages ? (
            <Button tone="quiet" onClick={() => setPages(pages + 1)}>
              {words.history.older}
            </Button>
          ) : (
            <Link href={`/runs?q=${encodeURIComponent(`trigger:${name}`)}`}>{words.history.all}</Link>
          )}
        </div>
      ) : null}
    </>
  )
}

/** All reasons but `checked`, which says that nothing happened to a sensor. */
const notable = [
  'missed',
  'collapsed',
  'overlap',
  'paused',
  'frozen',
  'switch',
  'blackout',
  'calendar',
  'pruned',
] as const

interface Part<Item> {
  readonly items: readonly Item[]
  readonly isMore: boolean
}

/** Both lists as one, as far back as both of them go. */
function merged(runs: Part<Run>, ranges: Part<LedgerEntry>): readonly Entry[] {
  const all: Entry[] = [
    ...runs.items.map((run) => ({ kind: 'run', at: run.dueAt, run }) as const),
    ...ranges.items.map((range) => ({ kind: 'range', at: range.lastAt, range }) as const),
  ]
  const oldest = Math.max(
    runs.isMore ? Date.parse(runs.items.at(-1)?.dueAt ?? '') : 0,
    ranges.isMore ? Date.parse(ranges.items.at(-1)?.lastAt ?? '') : 0,
  )
  return all
    .filter(({ at }) => Date.parse(at) >= oldest)
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
}

function keyOf(entry: Entry): string {
  return entry.kind === 'run' ? entry.run.id : `range ${entry.range.seq}`
}

const columnsOf = (allowed: ReadonlyMap<string, number>): readonly Column<Entry>[] => [
  {
    key: 'at',
    head: words.history.due,
    cell: (entry) =>
      entry.kind === 'run' || entry.range.firstAt === entry.range.lastAt ? (
        <Time at={entry.at} />
      ) : (
        <>
          <Time at={entry.range.firstAt} relative={false} /> {words.history.to}{' '}
          <Time at={entry.range.lastAt} />
        </>
      ),
  },
  {
    key: 'state',
    head: words.history.state,
    cell: (entry) => <StateMark mark={entry.kind === 'run' ? runMark(entry.run) : entry.range.reason} />,
  },
  {
    key: 'text',
    head: words.history.what,
    grows: true,
    cell: (entry) => <What entry={entry} allowed={allowed} />,
  },
  {
    key: 'took',
    head: words.history.took,
    align: 'end',
    isExtra: true,
    cell: (entry) =>
      entry.kind === 'run' && entry.run.startedAt !== null && entry.run.finishedAt !== null
        ? formatDuration(Date.parse(entry.run.finishedAt) - Date.parse(entry.run.startedAt))
        : null,
  },
  {
    key: 'why',
    head: <span className="visually-hidden">{words.history.why}</span>,
    align: 'end',
    cell: (entry) =>
      entry.kind === 'run' ? (
        <WhyButton trigger={entry.run.trigger ?? ''} from={entry.run.dueAt} />
      ) : (
        <WhyButton trigger={entry.range.trigger} from={entry.range.firstAt} until={entry.range.lastAt} />
      ),
  },
]

function What({ entry, allowed }: { entry: Entry; allowed: ReadonlyMap<string, number> }): ReactNode {
  if (entry.kind === 'range') {
    const { rule, detail } = entry.range
    return (
      <>
        <code>{rule}</code>{' '}
        <bdi className="soft" title={detail ?? undefined}>
          <RangeDetail rule={rule} detail={detail} />
        </bdi>
      </>
    )
  }
  const { run } = entry
  const { id, error, origin, attempt } = run
  return (
    <>
      <Link href={`/runs/${id}`} className="mono" title={id}>
        {id.slice(0, shortId)}
      </Link>{' '}
      {origin === 'manual' ? <span className="soft">{words.history.manual} </span> : null}
      {attempt > 1 ? <span className="soft">{attemptText(run, allowed.get(run.job))} </span> : null}
      {error === null ? null : <span title={printable(error.message)}>{printable(error.message)}</span>}
    </>
  )
}
