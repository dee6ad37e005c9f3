import type { ReactNode } from 'react'
import { useLive } from '../data/live-context.js'
import { words } from '../words/shell.js'
import styles from './live-dot.module.css'

/** Shows how changes arrive. */
export function LiveDot(): ReactNode {
  const { state } = useLive()
  return (
    <span className={styles['live']} data-state={state} title={words.live.explain[state]} role="status">
      <span className={styles['dot']} aria-hidden="true" />
      <span className={styles['text']}>{words.live[state]}</span>
    </span>
  )
}
