import { useId, useState, type ReactNode } from 'react'
import { problemOf } from '../data/api.js'
import { words } from '../words/common.js'
import { Button } from './button.js'
import styles from './confirm-dialog.module.css'
import { Dialog } from './dialog.js'

/** Asks before a change: says what will happen, takes a reason where one is recorded, and shows what went wrong. */
export function ConfirmDialog({
  title,
  children,
  action,
  tone = 'main',
  asksReason = true,
  isReady = true,
  onConfirm,
  onClose,
}: {
  title: string
  /** What will happen; also fields of its own. */
  children?: ReactNode
  /** The word on the button, a verb. */
  action: string
  tone?: 'main' | 'danger'
  asksReason?: boolean
  /** Whether everything is there that the change needs. */
  isReady?: boolean
  /** Makes the change; the dialog closes when it is done, and stays open when it fails or the answer is `open`. */
  onConfirm: (reason: string) => Promise<'open' | void>
  onClose: () => void
}): ReactNode {
  const id = useId()
  const [reason, setReason] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const confirm = async (): Promise<void> => {
    setBusy(true)
    try {
      setError(undefined)
      if ((await onConfirm(reason.trim())) !== 'open') return onClose()
    } catch (caught) {
      setError(problemOf(caught))
    }
    setBusy(false)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady && !isBusy) void confirm()
        }}
      >
        {children}
        {asksReason ? (
          <label className={styles['field']} htmlFor={id}>
            {words.reason}
            <input
              id={id}
              className={styles['input']}
              value={reason}
              maxLength={4096}
              autoComplete="off"
              onChange={({ target }) => setReason(target.value)}
            />
            <span className="soft">{words.reasonHint}</span>
          </label>
        ) : null}
        {error === undefined ? null : (
          <p className={styles['error']} role="alert">
            {error}
          </p>
        )}
        <footer className={styles['foot']}>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button type="submit" tone={tone} disabled={isBusy || !isReady}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
