import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { BulkPlan } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { runMark } from '../../data/runs.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { StateMark } from '../../parts/state-mark.js'
import { ErrorState, Skeleton } from '../../parts/states.js'
import { Time } from '../../parts/time.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/runs.js'
import styles from './page.module.css'

/** What the page does with many runs. */
export type BulkAction = 'retry' | 'cancel'

/** Which runs are meant. */
export type BulkRuns =
  | { readonly filter: string; readonly zone: string }
  | { readonly ids: readonly string[] }

/** Says how many runs an action would change, with examples, and begins it. */
export function BulkDialog({
  action,
  runs,
  onBegun,
  onClose,
}: {
  action: BulkAction
  runs: BulkRuns
  /** Called with the id of the action. */
  onBegun: (bulk: string) => void
  onClose: () => void
}): ReactNode {
  const own = words.bulk[action]
  const { data, error, refetch } = useQuery({
    queryKey: ['bulk', 'plan', action, runs],
    queryFn: ({ signal }) => api('POST /bulk', { body: { action, ...runs, dryRun: true }, signal }),
    gcTime: 0,
    meta: { topics: ['runs'] },
  })
  const plan = data?.plan
  const count = plan === undefined ? '' : common.total(formatCount(plan.count), plan.capped)
  const begin = async (reason: string): Promise<void> => {
    const { bulk } = await api('POST /bulk', { body: { action, ...runs, reason } })
    if (bulk !== null) onBegun(bulk.id)
  }
  return (
    <ConfirmDialog
      title={own.title(count)}
      action={own.action}
      tone={action === 'retry' ? 'main' : 'danger'}
      isReady={plan !== undefined && plan.count > 0}
      onConfirm={begin}
      onClose={onClose}
    >
      <p>{own.text}</p>
      {plan !== undefined ? (
        <Plan plan={plan} />
      ) : error === null ? (
        <Skeleton rows={3} />
      ) : (
        <ErrorState error={error} onRetry={() => void refetch()} />
      )}
    </ConfirmDialog>
  )
}

function Plan({ plan: { count, capped, skipped, examples } }: { plan: BulkPlan }): ReactNode {
  return (
    <>
      <p>
        <strong>{words.bulk.would(formatCount(count))}</strong>
        {capped ? ` ${words.bulk.capped}` : null}
      </p>
      {skipped.map(({ reason, about, count: left }) => (
        <p key={reason} className="soft">
          {words.bulk.skipped(formatCount(left), about)}
        </p>
      ))}
      {examples.length === 0 ? null : (
        // A box that scrolls must be reachable by keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <ul className={styles['examples']} aria-label={words.bulk.examples} tabIndex={0}>
          {examples.map((run) => (
            <li key={run.id}>
              <StateMark mark={runMark(run)} />
              <bdi className="cut">{run.trigger ?? run.job}</bdi>
              <Time at={run.dueAt} relative={false} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
