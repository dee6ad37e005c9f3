import type { ReactNode } from 'react'
import { marks, type Mark } from '../design/marks.js'
import { markWords } from '../words/common.js'
import styles from './state-mark.module.css'

/** The shape of a state in the colour of its family, and its name unless that is already shown next to it. */
export function StateMark({
  mark,
  label,
  size = 12,
}: {
  mark: Mark
  /** The text next to the shape; `false`: only the shape, with its name for screen readers. */
  label?: string | false
  size?: number
}): ReactNode {
  const { family, fill, path } = marks[mark]
  const name = label === undefined || label === false ? markWords[mark] : label
  return (
    <span className={styles['mark']} data-family={family}>
      <svg
        className={styles['shape']}
        viewBox="0 0 12 12"
        width={size}
        height={size}
        data-fill={fill}
        aria-hidden="true"
      >
        <path d={path} />
      </svg>
      <span className={label === false ? 'visually-hidden' : undefined}>{name}</span>
    </span>
  )
}
