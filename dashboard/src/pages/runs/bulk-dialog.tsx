import { useRef, useState, type ReactNode } from 'react'
import type { Run } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { Button } from '../../parts/button.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { useToast } from '../../parts/toast.js'
import { words } from '../../words/runs.js'

/** Says how many of the selected runs would change, then changes them one after the other; it can be stopped. */
export function BulkDialog({
  action,
  runs,
  onClose,
}: {
  action: 'retry' | 'cancel'
  runs: readonly Run[]
  onClose: (isDone: boolean) => void
}): ReactNode {
  const toast = useToast()
  const isStopped = useRef(false)
  const [done, setDone] = useState<number>()
  const fitting = runs.filter(({ state }) => states[action].includes(state))
  const total = formatCount(fitting.length)
  const change = async (reason: string): Promise<void> => {
    let changed = 0
    let failed = 0
    for (const { id } of fitting) {
      if (isStopped.current) break
      setDone(changed + failed)
      await api(`POST /runs/{id}/${action}`, { path: { id }, body: { reason } }).then(
        () => changed++,
        () => failed++,
      )
    }
    const told = action === 'retry' ? words.bulk.retried : words.bulk.cancelled
    const missed = failed === 0 ? '' : ` ${words.bulk.failed(formatCount(failed))}`
    toast({ text: `${told(formatCount(changed))}${missed}` })
    onClose(true)
  }
  const isRetry = action === 'retry'
  return (
    <ConfirmDialog
      title={isRetry ? words.bulk.retryTitle(total) : words.bulk.cancelTitle(total)}
      action={isRetry ? words.bulk.retryAction : words.bulk.cancelAction}
      tone={isRetry ? 'main' : 'danger'}
      onConfirm={change}
      onClose={() => onClose(false)}
    >
      <p>{isRetry ? words.bulk.retryText : words.bulk.cancelText}</p>
      <p>{words.bulk.would(total, formatCount(runs.length))}</p>
      {done === undefined ? null : (
        <p>
          {words.bulk.progress(formatCount(done), total)}{' '}
          <Button onClick={() => (isStopped.current = true)}>{words.bulk.abort}</Button>
        </p>
      )}
    </ConfirmDialog>
  )
}

/** The runs that an action changes. */
const states: Readonly<Record<'retry' | 'cancel', readonly Run['state'][]>> = {
  retry: ['failed', 'cancelled'],
  cancel: ['pending', 'running'],
}
