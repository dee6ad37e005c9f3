import { memo, type ReactNode } from 'react'
import type { Mark } from '../../design/marks.js'
import { StateMark } from '../../parts/state-mark.js'
import styles from './page.module.css'

const shown: readonly Mark[] = [
  'done',
  'running',
  'failed',
  'missed',
  'due',
  'overlap',
  'collapsed',
  'paused',
  'frozen',
  'cancelled',
]

/** What the shapes mean. */
export const Legend = memo(function Legend(): ReactNode {
  return (
    <ul className={styles['legend']}>
      {shown.map((mark) => (
        <li key={mark}>
          <StateMark mark={mark} />
        </li>
      ))}
    </ul>
  )
})
