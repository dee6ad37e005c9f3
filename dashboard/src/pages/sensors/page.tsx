import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Sensor } from '../../../../src/client/operations.js'
import { formatCount, formatDuration } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import { sensorHref, sensorMarks, sensorsQuery } from '../../data/sensors.js'
import { LongName } from '../../parts/text/long-name.js'
import { StateMark } from '../../parts/state-mark.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/sensors.js'
import styles from './page.module.css'

/** All sensors: whether they work, what they found last, and their next poll. */
export default function SensorsPage(): ReactNode {
  const { data, error, isFetching, refetch } = useQuery(sensorsQuery)
  return (
    <div className={styles['page']}>
      <h1>{words.title}</h1>
      <Panel title={words.list} aside={data === undefined ? undefined : formatCount(data.items.length)}>
        <LoadingBar isLoading={isFetching && data !== undefined} />
        {data === undefined ? (
          error === null ? (
            <Skeleton rows={6} />
          ) : (
            <ErrorState error={error} onRetry={() => void refetch()} />
          )
        ) : data.items.length === 0 ? (
          <EmptyState title={words.empty.title} code={words.empty.code} afterwards={words.empty.afterwards}>
            {words.empty.text}
          </EmptyState>
        ) : (
          <Table label={words.list} columns={columns} rows={data.items} rowKey={({ name }) => name} />
        )}
      </Panel>
    </div>
  )
}

const columns: readonly Column<Sensor>[] = [
  {
    key: 'state',
    head: words.columns.state,
    cell: ({ condition }) => <StateMark mark={sensorMarks[condition]} label={words.conditions[condition]} />,
  },
  {
    key: 'name',
    head: words.columns.name,
    cell: ({ name }) => (
      <Link href={sensorHref(name)} className={styles['name']} title={name} aria-label={name}>
        <LongName>{name}</LongName>
      </Link>
    ),
  },
  { key: 'type', head: words.columns.type, isExtra: true, cell: ({ type }) => type },
  {
    key: 'last',
    head: words.columns.last,
    grows: true,
    cell: ({ last }) => {
      if (last === null) return <span className="soft">{words.never}</span>
      const text = `${words.kinds[last.kind]}${last.reason === null ? '' : `: ${printable(last.reason)}`}`
      return <span title={text}>{text}</span>
    },
  },
  {
    key: 'found',
    head: words.columns.found,
    align: 'end',
    isExtra: true,
    cell: ({ found }) => formatCount(found),
  },
  {
    key: 'every',
    head: words.columns.every,
    align: 'end',
    isExtra: true,
    cell: ({ everyMs, type }) => (type === 'webhook' ? words.delivered : formatDuration(everyMs)),
  },
  {
    key: 'next',
    head: words.columns.next,
    align: 'end',
    cell: ({ nextAt }) => (nextAt === null ? null : <Time at={nextAt} />),
  },
]
