import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { Operations } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import { ConfirmDialog } from '../confirm-dialog.js'
import { SelectField, TextField } from '../forms/fields.js'
import { ErrorState, Skeleton } from '../states.js'
import { backfillWords as backfill } from '../../words/assets.js'
import styles from './backfill-dialog.module.css'
import { useTellStarted } from './use-tell-started.js'

type Request = Operations['POST /backfills']['request']['body']
type Plan = Operations['POST /backfills/plan']['answer']

const onlys = ['missing', 'missing-or-failed', 'failed', 'stale', 'all'] as const
const orders = ['oldest-first', 'newest-first'] as const

/** Plans a backfill: what is made, what is skipped and why. Then starts exactly that plan. */
export function BackfillDialog({
  asset,
  from,
  to,
  onClose,
}: {
  asset: string
  from: string
  to: string
  onClose: () => void
}): ReactNode {
  const tellStarted = useTellStarted(backfill)
  const [only, setOnly] = useState<NonNullable<Request['only']>>('missing-or-failed')
  const [order, setOrder] = useState<NonNullable<Request['order']>>('oldest-first')
  const [concurrency, setConcurrency] = useState('')
  const request = { asset, from, to, only, order }
  const {
    data: plan,
    error,
    refetch,
  } = useQuery({
    queryKey: ['backfill-plan', request],
    queryFn: ({ signal }) => api('POST /backfills/plan', { body: request, signal }),
    meta: { topics: ['runs'] },
    placeholderData: (before) => before,
    retry: false,
  })
  const start = async (reason: string): Promise<void> => {
    const body = {
      ...request,
      reason,
      ...(plan === undefined ? {} : { plan: plan.plan }),
      ...(concurrency === '' ? {} : { concurrency: Number(concurrency) }),
    }
    const { backfill: started } = await api('POST /backfills', { body })
    await tellStarted(started)
  }
  return (
    <ConfirmDialog
      title={backfill.title(asset)}
      action={backfill.action(plan === undefined ? '' : formatCount(plan.run.length))}
      onClose={onClose}
      isReady={error === null && plan !== undefined && plan.run.length > 0}
      onConfirm={start}
    >
      <p>{backfill.range(from, to)}</p>
      <div className={styles['fields']}>
        <SelectField
          label={backfill.only}
          value={only}
          choices={onlys.map((value) => ({ value, label: backfill.onlys[value] }))}
          onChange={setOnly}
        />
        <SelectField
          label={backfill.order}
          value={order}
          choices={orders.map((value) => ({ value, label: backfill.orders[value] }))}
          onChange={setOrder}
        />
        <TextField
          label={backfill.concurrency}
          type="number"
          min={1}
          max={1000}
          value={concurrency}
          placeholder={backfill.noLimit}
          onChange={({ target }) => setConcurrency(target.value)}
        />
      </div>
      {plan === undefined ? (
        error === null ? (
          <Skeleton />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <PlanText plan={plan} />
      )}
    </ConfirmDialog>
  )
}

const shownSkips = 100

function PlanText({ plan: { run, skip } }: { plan: Plan }): ReactNode {
  return (
    <div className={styles['plan']} aria-live="polite">
      <p>
        <strong>{run.length === 0 ? backfill.nothingLeft : backfill.made(formatCount(run.length))}</strong>{' '}
        {run.length === 0 ? null : (
          <span className="soft">
            {run.length === 1 ? run[0] : backfill.fromTo(run[0] ?? '', run.at(-1) ?? '')}
          </span>
        )}
      </p>
      {skip.length === 0 ? null : (
        <details open={skip.length <= 10}>
          <summary>{backfill.skipped(formatCount(skip.length))}</summary>
          <ul className={styles['skips']}>
            {skip.slice(0, shownSkips).map(({ label, reason }) => (
              <li key={label}>
                <code>{label}</code> <span className="soft">{printable(reason)}</span>
              </li>
            ))}
            {skip.length > shownSkips ? (
              <li>{backfill.more(formatCount(skip.length - shownSkips))}</li>
            ) : null}
          </ul>
        </details>
      )}
    </div>
  )
}
