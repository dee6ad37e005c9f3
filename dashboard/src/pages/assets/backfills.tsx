import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { BackfillProgress } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { useMay } from '../../data/session.js'
import type { Mark } from '../../design/families.js'
import { Button } from '../../parts/button.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { StateMark } from '../../parts/mark.js'
import { Panel } from '../../parts/panel.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { useToast } from '../../parts/toast.js'
import { backfillWords, words } from '../../words/assets.js'
import styles from './page.module.css'

const { backfills: text } = words

/** The backfills of an asset, newest first, with their progress. */
export function Backfills({ asset }: { asset: string }): ReactNode {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['backfills', asset],
    queryFn: ({ signal }) => api('GET /backfills', { query: { asset, limit: 20 }, signal }),
    meta: { topics: ['runs'] },
  })
  return (
    <Panel title={text.title}>
      <LoadingBar isLoading={isFetching && data !== undefined} />
      {data === undefined ? (
        error === null ? (
          <Skeleton />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : data.items.length === 0 ? (
        <EmptyState title={text.none} command={`rota asset backfill ${asset} --from … --to …`}>
          {text.teach}
        </EmptyState>
      ) : (
        <Table label={text.title} columns={columns} rows={data.items} rowKey={({ id }) => id} />
      )}
    </Panel>
  )
}

/** The mark of a backfill: what a reader would ask about first. */
function markOf({ state, left, failed }: BackfillProgress): Mark {
  if (state === 'cancelled') return 'cancelled'
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
  { key: 'only', head: text.only, isExtra: true, cell: ({ only }) => backfillWords.onlys[only] },
  { key: 'at', head: text.started, isExtra: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { key: 'action', head: '', align: 'end', cell: (one) => <Cancel one={one} /> },
]

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
