import type { ReactNode } from 'react'
import { words } from '../../words/planning/simulate.js'
import styles from './page.module.css'

/** How far a simulation is. */
export function Progress({ share }: { share: number }): ReactNode {
  const percent = Math.round(share * 100)
  return (
    <div className={styles['progress']}>
      <div
        role="progressbar"
        aria-label={words.progressLabel}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        className={styles['track']}
      >
        <span style={{ inlineSize: `${percent}%` }} />
      </div>
      <span>{words.progress(percent)}</span>
    </div>
  )
}
