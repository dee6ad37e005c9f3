import type { ReactNode } from 'react'
import { formatCount } from '../../data/format.js'
import { words } from '../../words/charts.js'
import styles from './load-bar.module.css'

/** How much of a limit is used: a bar with its numbers. Without a limit there is only the number. */
export function LoadBar({
  label,
  used,
  limit,
}: {
  label: string
  used: number
  limit: number | null
}): ReactNode {
  if (limit === null) return <span>{words.running(formatCount(used))}</span>
  const share = limit === 0 ? 1 : Math.min(1, used / limit)
  return (
    <span className={styles['load']} data-full={share >= 1}>
      <span
        className={styles['bar']}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={used}
      >
        <span style={{ inlineSize: `${Math.round(share * 100)}%` }} />
      </span>
      <span>
        {formatCount(used)} / {formatCount(limit)}
      </span>
    </span>
  )
}
