import type { ReactNode } from 'react'
import styles from './long-name.module.css'

/** Shorter names are not cut, or hardly. */
const short = 12

/**
 * A name on one line, cut in its middle where there is no room: names of one family begin alike and differ at their end.
 * What is around it says the whole name in its `title` and `aria-label`.
 */
export function LongName({ children: name }: { children: string }): ReactNode {
  if (name.length <= short) return name
  // So much of the end always stays.
  const endLength = name.length > 2 * short ? 10 : 6
  return (
    <span className={styles['name']}>
      <span className={styles['start']}>{name.slice(0, -endLength)}</span>
      <span className={styles['end']}>{name.slice(-endLength)}</span>
    </span>
  )
}
