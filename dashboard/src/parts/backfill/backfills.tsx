import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { BackfillProgress } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { useMay } from '../../data/session.js'
import type { Mark } from '../../design/marks.js'
import { Button } from '../button.js'
import { ConfirmDialog } from '../confirm-dialog.js'
import { StateMark } from '../state-mark.js'
import { Panel } from '../panel.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../states.js'
import { Table, type Column } from '../table.js'
import { Time } from '../time.js'
import { useToast } from '../toast.js'
import { onlyWords, words as text } from '../../words/planning/backfills.js'
import styles from './backfills.module.css'
import { useTellStarted } from './use-tell-started.js'

/** The backfills of an asset in a panel. */
export function BackfillsPanel({ asset }: { asset: string }): ReactNode {
  return (
    <Panel title={text.title}>
      <Backfills of="asset" name={asset} />
    </Panel>
  )
}

/** The backfills of an asset or a trigger, newest first, with their progress. */
export function Backfills({ of, name }: { of: 'asset' | 'trigger'; name: string }): ReactNode {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['backfills', of, name],
    queryFn: ({ signal }) => api('GET /backfills', { query: { [of]: name, limit: 20 }, signal }),
    meta: { topics: ['runs'] },
  })
  return (
    <>
      <LoadingBar isLoading={isFetching && data !== undefined} />
      {data === undefined ? (
        error === null ? (
          <Skeleton />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : data.items.length === 0 ? (
        <EmptyState
          title={text.none}
          command={`rota ${of === 'asset' ? 'asset ' : ''}backfill ${name} --from … --to …`}
        >
          {text.teach[of]}
        </EmptyState>
      ) : (
        <Table label={text.title} columns={columns} rows={data.items} rowKey={({ id }) => id} />
      )}
    </>
  )
}

/** The mark of a backfill: what a reader would ask about first. */
function markOf({ state, left, failed }: BackfillProgress): Mark {
  if (state === 'cancelled' || state === 'cancelling') return 'cancelled'
  if (state === 'planned') return 'due'
  if (left > 0) return 'running'
  return failed > 0 ? 'failed' : 'done'
}

const columns: readonly Column<BackfillProgress>[] = [
  {
    key: 'state',
    head: text.state,
    cell: (one) => <StateMark mark={markOf(one)} />,
  },
  { key: 'range', head: text.range, cell: ({ first, last }) => text.fromTo(first, last) },
  {
    key: 'progress',
    head: text.progress,
    grows: true,
    cell: ({ id, total, done, failed, left }) => (
      <span className={styles['progress']}>
        <progress aria-label={text.progressOf(id)} max={Math.max(1, total)} value={done + failed} />
        <span>{text.numbers([done, failed, left].map(formatCount))}</span>
      </span>
    ),
  },
  { key: 'only', head: text.only, isExtra: true, cell: ({ only }) => onlyWords[only] ?? only },
  { key: 'at', head: text.planned, isExtra: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    key: 'action',
    head: '',
    align: 'end',
    cell: (one) => (
      <>
        {one.state === 'planned' ? <Start one={one} /> : null} <Cancel one={one} />
      </>
    ),
  },
]

function Start({ one }: { one: BackfillProgress }): ReactNode {
  const { id, total, first, last } = one
  const { why } = useMay('operate')
  const tellStarted = useTellStarted({ nothing: text.over, started: text.startDone })
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button why={why} onClick={() => setAsking(true)}>
        {text.start}
      </Button>
      {isAsking ? (
        <ConfirmDialog
          title={text.startTitle(id)}
          action={text.startAction}
          onClose={() => setAsking(false)}
          onConfirm={async (reason) =>
            await tellStarted(await api('POST /backfills/{id}/start', { path: { id }, body: { reason } }))
          }
        >
          <p>{text.startText(formatCount(total), text.fromTo(first, last))}</p>
        </ConfirmDialog>
      ) : null}
    </>
  )
}

function Cancel({ one: { id, left, state } }: { one: BackfillProgress }): ReactNode {
  const { why } = useMay('operate')
  const toast = useToast()
  const client = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const over = state === 'cancelled' || left === 0 ? text.over : undefined
  const { data: plan } = useQuery({
    queryKey: ['backfill-cancel-plan', id],
    queryFn: ({ signal }) =>
      api('POST /backfills/{id}/cancel', { path: { id }, body: { dryRun: true }, signal }),
    enabled: isAsking,
    retry: false,
  })
  return (
    <>
      <Button tone="danger" why={why ?? over} onClick={() => setAsking(true)}>
        {text.cancel}
      </Button>
      {isAsking ? (
        <ConfirmDialog
          title={text.cancelTitle(id)}
          action={text.cancelAction}
          tone="danger"
          onClose={() => setAsking(false)}
          onConfirm={async (reason) => {
            const answer = await api('POST /backfills/{id}/cancel', { path: { id }, body: { reason } })
            await client.invalidateQueries({ queryKey: ['backfills'] })
            toast({ text: text.cancelled(formatCount(answer.cancelledRuns)) })
          }}
        >
          <p>{text.cancelText}</p>
          {plan === undefined ? null : <p>{text.cancelPlan(formatCount(plan.cancelledRuns))}</p>}
        </ConfirmDialog>
      ) : null}
    </>
  )
}
