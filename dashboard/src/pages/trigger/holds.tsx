import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { Hold } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { printable } from '../../data/printable.js'
import { StateMark } from '../../parts/state-mark.js'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/trigger.js'

const days = 390

/** Who held the trigger back, why and until when, in the last year. */
export function Holds({ name }: { name: string }): ReactNode {
  const [now] = useState(() => Date.now())
  const { data, error, refetch } = useQuery({
    queryKey: ['trigger', name, 'holds'],
    queryFn: ({ signal }) =>
      api('GET /ui/timeline', {
        query: {
          lanes: name,
          from: new Date(now - days * 86_400_000).toISOString(),
          until: new Date(now + 86_400_000).toISOString(),
        },
        signal,
      }),
    meta: { topics: ['holds'] },
  })
  if (data === undefined) {
    return error === null ? <Skeleton /> : <ErrorState error={error} onRetry={() => void refetch()} />
  }
  const all = [...(data.lanes[0]?.holds ?? []), ...data.holds]
  const holds = all
    .filter((hold, index) => all.findIndex((one) => keyOf(one) === keyOf(hold)) === index)
    .toSorted((a, b) => Date.parse(b.fromAt) - Date.parse(a.fromAt))
  if (holds.length === 0) {
    return (
      <EmptyState title={words.holds.none} command={`rota pause ${name} --reason "database upgrade"`}>
        {words.holds.teach}
      </EmptyState>
    )
  }
  return <Table label={words.tabs.holds} columns={columns} rows={holds} rowKey={keyOf} />
}

function keyOf({ target, fromAt }: Hold): string {
  return `${target} ${fromAt}`
}

const columns: readonly Column<Hold>[] = [
  {
    key: 'what',
    head: words.holds.what,
    cell: ({ target }) => (
      <StateMark mark={target === 'all' ? 'frozen' : target.startsWith('switch:') ? 'switch' : 'paused'} />
    ),
  },
  { key: 'from', head: words.holds.from, cell: ({ fromAt }) => <Time at={fromAt} /> },
  {
    key: 'until',
    head: words.holds.until,
    cell: ({ untilAt }) =>
      untilAt === null ? <span className="soft">{words.holds.open}</span> : <Time at={untilAt} />,
  },
  { key: 'by', head: words.holds.by, cell: ({ by }) => printable(by) },
  { key: 'note', head: words.holds.note, grows: true, cell: ({ note }) => printable(note) },
  {
    key: 'catchUp',
    head: words.holds.catchUp,
    isExtra: true,
    cell: ({ untilAt, catchUp }) =>
      untilAt === null ? null : catchUp ? words.holds.caughtUp : words.holds.skipped,
  },
]
