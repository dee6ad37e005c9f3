import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { ErrorGroup } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/runs.js'
import styles from './page.module.css'
import { quoted } from './query.js'

/** The errors of the failed runs that match the filter, in groups: the same code, and the same message but for numbers. */
export function ErrorGroups({
  q,
  zone,
  isReadable,
}: {
  q: string
  zone: string
  isReadable: boolean
}): ReactNode {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['runs', 'errors', q, zone],
    queryFn: ({ signal }) => api('GET /runs/errors', { query: { q, zone }, signal }),
    enabled: isReadable,
    placeholderData: (previous) => previous,
    meta: { topics: ['runs'] },
  })
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (data === undefined) return isReadable ? <Skeleton rows={6} /> : null
  return (
    <>
      <LoadingBar isLoading={isFetching} />
      {data.items.length === 0 ? (
        <EmptyState title={words.errors.none}>{words.errors.noneText}</EmptyState>
      ) : (
        <>
          <Table
            label={words.errors.label}
            columns={columnsFor(q)}
            rows={data.items}
            rowKey={({ code, shape }) => `${code} ${shape}`}
          />
          <p className={styles['note']}>{words.errors.of(formatCount(data.runs.count), data.runs.capped)}</p>
        </>
      )}
    </>
  )
}

function columnsFor(q: string): readonly Column<ErrorGroup>[] {
  const { columns } = words.errors
  return [
    {
      key: 'count',
      head: columns.count,
      align: 'end',
      cell: ({ count }) => <strong>{formatCount(count)}</strong>,
    },
    {
      key: 'error',
      head: columns.error,
      grows: true,
      cell: ({ code, shape, example }) => (
        <bdi title={printable(example.error?.message ?? shape)}>
          <code>{printable(code)}</code> {printable(shape)}
        </bdi>
      ),
    },
    {
      key: 'jobs',
      head: columns.jobs,
      isExtra: true,
      cell: ({ jobs }) => (
        <bdi className={`cut ${styles['jobs']}`} title={jobs.join(', ')}>
          {jobs.join(', ')}
        </bdi>
      ),
    },
    {
      key: 'first',
      head: columns.first,
      align: 'end',
      isExtra: true,
      cell: ({ firstDueAt }) => <Time at={firstDueAt} />,
    },
    { key: 'last', head: columns.last, align: 'end', cell: ({ lastDueAt }) => <Time at={lastDueAt} /> },
    {
      key: 'runs',
      head: <span className="visually-hidden">{words.errors.runs}</span>,
      cell: (group) => <Link href={runsOf(q, group)}>{words.errors.runs}</Link>,
    },
  ]
}

/** The list of the runs of a group: by its code, and the longest part of the message that they all have. */
function runsOf(q: string, { code, shape }: ErrorGroup): string {
  const longest = shape
    .split('…')
    .map((part) => part.trim())
    .reduce((one, other) => (other.length > one.length ? other : one), '')
  const added = [
    ['state', 'failed'],
    ['error', code],
    ['message', code === '' || longest.length < 4 ? '' : longest],
  ] as const
  const terms = added.filter(([name, value]) => value !== '' && !new RegExp(`(^|\\s)${name}:`).test(q))
  const text = [q, ...terms.map(([name, value]) => `${name}:${quoted(value)}`)].join(' ').trim()
  return `/runs?${new URLSearchParams({ q: text }).toString()}`
}
