import type { ComponentProps, ReactNode } from 'react'
import styles from './button.module.css'

/** A button. One that may not be used stays visible and says why. */
export function Button({
  tone = 'plain',
  why,
  children,
  ...rest
}: ComponentProps<'button'> & {
  tone?: 'plain' | 'main' | 'danger' | 'quiet'
  /** Why it may not be used now; disables it without taking it out of the order of focus. */
  why?: string | undefined
}): ReactNode {
  const isOff = why !== undefined
  return (
    <button
      type="button"
      {...rest}
      className={styles['button']}
      data-tone={tone}
      aria-disabled={isOff || rest.disabled === true ? true : undefined}
      title={why ?? rest.title}
      onClick={isOff ? undefined : rest.onClick}
    >
      {children}
      {isOff ? <span className="visually-hidden">({why})</span> : null}
    </button>
  )
}
