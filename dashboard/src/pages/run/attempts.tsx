import type { ReactNode } from 'react'
import type { Attempt } from '../../../../src/client/operations.js'
import type { Mark } from '../../design/marks.js'
import { formatDuration } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import { StateMark } from '../../parts/state-mark.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/run.js'

/** All attempts of a run, the newest first. */
export function Attempts({ attempts }: { attempts: readonly Attempt[] | undefined }): ReactNode {
  return (
    <Panel title={words.attempts.title} aside={attempts?.length}>
      {attempts === undefined ? (
        <Skeleton rows={2} />
      ) : attempts.length === 0 ? (
        <EmptyState title={words.attempts.none} />
      ) : (
        <Table
          label={words.attempts.title}
          columns={columns}
          rows={attempts.toReversed()}
          rowKey={({ attempt }) => String(attempt)}
        />
      )}
    </Panel>
  )
}

function markOf(end: Attempt['end']): Mark {
  switch (end) {
    case null:
      return 'running'
    case 'done':
      return 'done'
    case 'cancelled':
      return 'cancelled'
    case 'released':
    case 'snoozed':
      return 'pending'
    case 'failed':
    case 'timed-out':
    case 'lost':
      return 'failed'
  }
}

const { attempts: heads } = words
const columns: readonly Column<Attempt>[] = [
  { key: 'number', head: heads.number, cell: ({ attempt }) => attempt },
  {
    key: 'end',
    head: heads.end,
    cell: ({ end }) => (
      <StateMark mark={markOf(end)} label={end === null ? heads.running : words.ends[end]} />
    ),
  },
  {
    key: 'error',
    head: heads.error,
    grows: true,
    isEmpty: ({ error }) => error === null,
    cell: ({ error }) =>
      error === null ? null : <bdi title={error.message}>{printable(error.message)}</bdi>,
  },
  { key: 'worker', head: heads.worker, isExtra: true, cell: ({ worker }) => worker },
  {
    key: 'started',
    head: heads.started,
    align: 'end',
    cell: ({ startedAt, claimedAt }) => <Time at={startedAt ?? claimedAt} relative={false} />,
  },
  {
    key: 'took',
    head: heads.took,
    align: 'end',
    cell: ({ startedAt, endedAt }) =>
      startedAt === null || endedAt === null
        ? null
        : formatDuration(Date.parse(endedAt) - Date.parse(startedAt)),
  },
]
