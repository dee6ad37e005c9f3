import { useEffect, useId, useRef, type ReactNode } from 'react'
import { words } from '../words/common.js'
import { Button } from './button.js'
import styles from './dialog.module.css'

/**
 * A modal dialog; Escape and a click outside close it. The browser keeps the focus inside and restores it. The focus
 * begins in the first field; a touch screen would cover the text with its keyboard, so there it does so for a search only.
 */
export function Dialog({
  title,
  onClose,
  children,
  kind = 'middle',
}: {
  title: string
  onClose: () => void
  children: ReactNode
  /** Its position: in the middle, near the top for a search, or at the end as a panel. */
  kind?: 'middle' | 'top' | 'side'
}): ReactNode {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    if (dialog !== null && !dialog.open) {
      dialog.showModal()
      // The browser would begin at the button that closes, which comes first.
      if (kind === 'top' || !matchMedia('(pointer: coarse)').matches) firstField(dialog)?.focus()
    }
    return () => dialog?.close()
  }, [kind])
  return (
    <dialog
      ref={ref}
      className={styles['dialog']}
      data-kind={kind}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose()
      }}
    >
      <div className={styles['inside']}>
        <header className={kind === 'top' ? 'visually-hidden' : styles['head']}>
          <h2 id={id}>{title}</h2>
          <Button tone="quiet" onClick={onClose} aria-label={words.close}>
            ✕
          </Button>
        </header>
        {children}
      </div>
    </dialog>
  )
}

function firstField(dialog: HTMLElement): HTMLElement | null {
  return dialog.querySelector<HTMLElement>('input:checked, input:not([type="radio"]), select, textarea')
}
