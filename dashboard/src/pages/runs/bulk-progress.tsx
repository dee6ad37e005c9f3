import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { Bulk } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { useMay } from '../../data/session.js'
import { Button } from '../../parts/button.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { useToast } from '../../parts/toast.js'
import { words } from '../../words/runs.js'
import styles from './page.module.css'

/** How many of the newest actions are read. */
const newest = 5

/** Actions on many runs that are in progress, of any user, and the one that the address names. */
export function BulkProgress({ named, onClose }: { named: string | null; onClose: () => void }): ReactNode {
  const { data } = useQuery({
    queryKey: ['bulk'],
    queryFn: ({ signal }) => api('GET /bulk', { query: { limit: newest }, signal }),
    meta: { topics: ['state', 'runs'] },
  })
  const shown = (data?.items ?? []).filter(({ id, state }) => state === 'running' || id === named)
  return shown.map((bulk) => <OneBulk key={bulk.id} bulk={bulk} onClose={onClose} />)
}

function OneBulk({ bulk, onClose }: { bulk: Bulk; onClose: () => void }): ReactNode {
  const [isAsking, setAsking] = useState(false)
  const { why } = useMay('operate')
  const toast = useToast()
  const { id, action, state, total, left, done, failed, skipped, by, reason, filter, errors } = bulk
  const passed = state === 'running' ? total - left : done + failed + sum(skipped)
  const text = words.progress
  return (
    <section className={styles['progress']} aria-label={text.label(action)}>
      <div className={styles['progressText']}>
        <strong>{text.states[state](text.actions[action], formatCount(done), formatCount(total))}</strong>
        <span className="soft">
          {text.by(by)}
          {reason === null || reason === '' ? null : ` “${reason}”`}
          {filter === null ? null : (
            <>
              {' · '}
              <code>{filter}</code>
            </>
          )}
        </span>
        {skipped.map(({ reason: code, about, count }) => (
          <span key={code} className="soft">
            {words.bulk.skipped(formatCount(count), about)}
          </span>
        ))}
        {failed === 0 ? null : (
          <span className={styles['failed']}>{text.failed(formatCount(failed), errors.at(-1)?.message)}</span>
        )}
      </div>
      <progress value={passed} max={total} aria-label={text.label(action)} />
      {state === 'running' ? (
        <Button why={why} onClick={() => setAsking(true)}>
          {text.abort}
        </Button>
      ) : (
        <Button tone="quiet" onClick={onClose}>
          {text.close}
        </Button>
      )}
      {isAsking ? (
        <ConfirmDialog
          title={text.abortTitle}
          action={text.abortAction}
          tone="danger"
          onConfirm={async (given) => {
            await api('POST /bulk/{id}/abort', { path: { id }, body: { reason: given } })
            toast({ text: text.abortDone })
          }}
          onClose={() => setAsking(false)}
        >
          <p>{text.abortText}</p>
        </ConfirmDialog>
      ) : null}
    </section>
  )
}

function sum(parts: readonly { readonly count: number }[]): number {
  return parts.reduce((all, { count }) => all + count, 0)
}
