import type { ReactNode } from 'react'
import type { Family } from '../design/marks.js'
import styles from './bars.module.css'

/** One bar: its parts from below, and what it says on hover. */
export interface Bar {
  readonly key: string
  readonly title: string
  readonly parts: readonly { readonly family: Family; readonly count: number }[]
}

/** Bars over time, all of one width. Screen readers get the sentence instead. */
export function Bars({
  bars,
  label,
  height = 48,
}: {
  bars: readonly Bar[]
  label: string
  height?: number
}): ReactNode {
  const most = Math.max(1, ...bars.map(({ parts }) => sum(parts)))
  return (
    <div className={styles['bars']} role="img" aria-label={label} style={{ blockSize: height }}>
      {bars.map(({ key, title, parts }) => (
        <span key={key} className={styles['bar']} title={title}>
          {parts.map(({ family, count }) =>
            count === 0 ? null : (
              // What is there is seen: a single failure among thousands has two pixels.
              <span
                key={family}
                data-family={family}
                style={{ blockSize: `max(2px, ${(count / most) * 100}%)` }}
              />
            ),
          )}
        </span>
      ))}
    </div>
  )
}

function sum(parts: Bar['parts']): number {
  return parts.reduce((total, { count }) => total + count, 0)
}
