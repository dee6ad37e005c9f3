import { createContext, use, useCallback, useEffect, useState, type ReactNode } from 'react'
import { problemOf } from '../data/api.js'
import { words } from '../words/common.js'
import { Button } from './button.js'
import styles from './toast.module.css'

/** What happened, with a way back where there is one. */
export interface Toast {
  readonly text: string
  readonly undo?: () => Promise<unknown>
}

const Context = createContext<(toast: Toast) => void>(() => undefined)

/** Tells the results of actions, in one polite live region at the bottom of the page. */
export function ToastProvider({ children }: { children: ReactNode }): ReactNode {
  const [toast, setToast] = useState<Toast>()
  const show = useCallback((next: Toast) => setToast(next), [])
  useEffect(() => {
    if (toast === undefined) return undefined
    // Long enough to be read and to be taken back.
    const timer = setTimeout(() => setToast(undefined), 8000)
    return () => clearTimeout(timer)
  }, [toast])
  return (
    <Context value={show}>
      {children}
      <div className={styles['region']} role="status" aria-live="polite">
        {toast === undefined ? null : (
          <div className={styles['toast']}>
            <span>{toast.text}</span>
            {toast.undo === undefined ? null : (
              <Button
                tone="quiet"
                onClick={() => {
                  setToast(undefined)
                  void toast.undo?.().then(
                    () => show({ text: words.undone }),
                    (error: unknown) => show({ text: problemOf(error) }),
                  )
                }}
              >
                {words.undo}
              </Button>
            )}
            <Button tone="quiet" aria-label={words.close} onClick={() => setToast(undefined)}>
              ✕
            </Button>
          </div>
        )}
      </div>
    </Context>
  )
}

/** How a page tells the result of an action. */
export function useToast(): (toast: Toast) => void {
  return use(Context)
}
