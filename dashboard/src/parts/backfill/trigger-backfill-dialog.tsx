import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { Operations } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { triggerBackfillWords as words } from '../../words/planning/backfills.js'
import { ConfirmDialog } from '../confirm-dialog.js'
import { SelectField, TextField } from '../forms/fields.js'
import { ErrorState, Skeleton } from '../states.js'
import { Time, TimeSpan } from '../time.js'
import styles from './backfill-dialog.module.css'
import { useTellStarted } from './use-tell-started.js'

type Body = Operations['POST /triggers/{name}/backfills']['request']['body']
type Plan = Operations['POST /triggers/{name}/backfills']['answer']

/** The request; the pace as it was typed. */
interface Request extends Pick<Body, 'from' | 'to'> {
  readonly only: NonNullable<Body['only']>
  readonly order: NonNullable<Body['order']>
  readonly concurrency: string
  readonly pace: string
}

const onlys = ['missing', 'missing-or-failed', 'failed', 'all'] as const
const orders = ['oldest-first', 'newest-first'] as const

/**
 * Plans to run due times of a trigger again: what runs, what is skipped and why. The shown plan is stored and started by
 * its id. If the stored plan differs from the shown one, it is shown first.
 */
export function TriggerBackfillDialog({
  trigger: name,
  from,
  to,
  onClose,
}: {
  trigger: string
  from: string
  to: string
  onClose: () => void
}): ReactNode {
  const tellStarted = useTellStarted(words)
  const [request, setRequest] = useState<Request>({
    from,
    to,
    only: 'missing',
    order: 'oldest-first',
    concurrency: '',
    pace: '',
  })
  const [stored, setStored] = useState<Plan>()
  const put = (change: Partial<Request>): void => {
    setStored(undefined)
    setRequest((before) => ({ ...before, ...change }))
  }
  const {
    data: previewed,
    error,
    refetch,
  } = useQuery({
    queryKey: ['trigger-backfill-plan', name, request],
    queryFn: ({ signal }) =>
      api('POST /triggers/{name}/backfills', {
        path: { name },
        body: { ...bodyOf(request), dryRun: true },
        signal,
      }),
    meta: { topics: ['runs'] },
    placeholderData: (before) => before,
    retry: false,
  })
  const plan = stored ?? previewed
  const start = async (reason: string): Promise<'open' | void> => {
    const body = { ...bodyOf(request), reason }
    const planned = stored ?? (await api('POST /triggers/{name}/backfills', { path: { name }, body }))
    if (planned.backfill === null) return await tellStarted(null)
    if (plan === undefined || !isSame(planned, plan)) {
      setStored(planned)
      return 'open'
    }
    const { id } = planned.backfill
    await tellStarted(await api('POST /backfills/{id}/start', { path: { id }, body: { reason } }))
  }
  return (
    <ConfirmDialog
      title={words.title(name)}
      action={words.action(plan === undefined ? '' : formatCount(plan.run.length))}
      onClose={onClose}
      isReady={error === null && plan !== undefined && plan.run.length > 0}
      onConfirm={start}
    >
      <Fields request={request} onChange={put} />
      {stored === undefined ? null : <p role="alert">{words.changed}</p>}
      {plan !== undefined && error === null ? (
        <PlanText plan={plan} />
      ) : error === null ? (
        <Skeleton />
      ) : (
        <ErrorState error={error} onRetry={() => void refetch()} />
      )}
    </ConfirmDialog>
  )
}

/** Whether two plans run the same. */
function isSame(one: Plan, other: Plan): boolean {
  const textOf = ({ run }: Plan): string => JSON.stringify(run)
  return textOf(one) === textOf(other)
}

function bodyOf({ concurrency, pace, ...rest }: Request): Body {
  return {
    ...rest,
    ...(concurrency === '' ? {} : { concurrency: Number(concurrency) }),
    ...(pace === '' ? {} : { pace }),
  }
}

function Fields({
  request,
  onChange,
}: {
  request: Request
  onChange: (change: Partial<Request>) => void
}): ReactNode {
  return (
    <div className={`${styles['fields']} ${styles['wide']}`}>
      <TextField
        label={words.from}
        value={request.from}
        isMono
        onChange={({ target }) => onChange({ from: target.value })}
      />
      <TextField
        label={words.to}
        value={request.to}
        isMono
        onChange={({ target }) => onChange({ to: target.value })}
      />
      <SelectField
        label={words.only}
        value={request.only}
        choices={onlys.map((value) => ({ value, label: words.onlys[value] }))}
        onChange={(only) => onChange({ only })}
      />
      <SelectField
        label={words.order}
        value={request.order}
        choices={orders.map((value) => ({ value, label: words.orders[value] }))}
        onChange={(order) => onChange({ order })}
      />
      <TextField
        label={words.concurrency}
        type="number"
        min={1}
        max={1000}
        placeholder={words.noLimit}
        value={request.concurrency}
        onChange={({ target }) => onChange({ concurrency: target.value })}
      />
      <TextField
        label={words.pace}
        placeholder={words.noLimit}
        value={request.pace}
        isMono
        onChange={({ target }) => onChange({ pace: target.value })}
      />
    </div>
  )
}

function PlanText({ plan: { run, skip } }: { plan: Plan }): ReactNode {
  const [first] = run
  const last = run.at(-1)
  return (
    <div className={styles['plan']} aria-live="polite">
      <p>
        <strong>{run.length === 0 ? words.noRuns : words.runs(formatCount(run.length))}</strong>{' '}
        {first === undefined || last === undefined ? null : (
          <span className="soft">
            <TimeSpan from={first.at} until={last.at} />
          </span>
        )}
      </p>
      {skip.length === 0 ? null : (
        <ul className={styles['skips']}>
          {skip.map(({ firstAt, lastAt, count, about, detail }) => (
            <li key={`${firstAt} ${about}`}>
              {firstAt === lastAt ? (
                <Time at={firstAt} relative={false} />
              ) : (
                <TimeSpan from={firstAt} until={lastAt} />
              )}{' '}
              <span className="soft">
                {words.skipped(count === 0 ? '' : formatCount(count), about, detail)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
