import { createContext, use, useCallback, useEffect, useState, type ReactNode } from 'react'
import { problemOf } from '../data/api.js'
import { useKeys } from '../shell/keys.js'
import { words } from '../words/common.js'
import { Button } from './button.js'
import styles from './toast.module.css'

/** What happened, with an undo if there is one. */
export interface Toast {
  readonly text: string
  readonly undo?: () => Promise<unknown>
}

const Context = createContext<(toast: Toast) => void>(() => undefined)

/** Shows the results of actions, in one polite live region at the bottom of the page. */
export function ToastProvider({ children }: { children: ReactNode }): ReactNode {
  const [toast, setToast] = useState<Toast>()
  const show = useCallback((next: Toast) => setToast(next), [])
  const [isHeld, setHeld] = useState(false)
  useEffect(() => {
    if (toast === undefined || isHeld) return undefined
    // Long enough to read it and to undo; it stays while the pointer or the focus is on it.
    const timer = setTimeout(() => setToast(undefined), 8000)
    return () => clearTimeout(timer)
  }, [toast, isHeld])
  const close = (): void => {
    setToast(undefined)
    setHeld(false)
  }
  const undo = (): void => {
    close()
    void toast?.undo?.().then(
      () => show({ text: words.undone }),
      (error: unknown) => show({ text: problemOf(error) }),
    )
  }
  useKeys(toast?.undo === undefined ? [] : [{ keys: 'u', label: words.undoKey, act: undo, isGlobal: true }])
  return (
    <Context value={show}>
      {children}
      <div className={styles['region']} role="status" aria-live="polite">
        {toast === undefined ? null : (
          <div
            className={styles['toast']}
            onPointerEnter={() => setHeld(true)}
            onPointerLeave={() => setHeld(false)}
            onFocus={() => setHeld(true)}
            onBlur={() => setHeld(false)}
          >
            <span>{toast.text}</span>
            {toast.undo === undefined ? null : (
              <Button tone="quiet" onClick={undo}>
                {words.undo} <kbd aria-hidden="true">u</kbd>
              </Button>
            )}
            <Button tone="quiet" aria-label={words.close} onClick={close}>
              ✕
            </Button>
          </div>
        )}
      </div>
    </Context>
  )
}

/** How a page shows the result of an action. */
export function useToast(): (toast: Toast) => void {
  return use(Context)
}
