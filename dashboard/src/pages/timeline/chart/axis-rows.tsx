import type { ReactNode } from 'react'
import type { Axis } from '../axis/ticks.js'
import { lengthOf, type View } from '../axis/view.js'
import { words } from '../../../words/timeline.js'
import styles from './chart.module.css'

/** The dates above the times, and where now is. Screen readers use the table. */
export function AxisRows({
  axis,
  view,
  widthPx,
  nowMs,
}: {
  axis: Axis
  view: View
  widthPx: number
  nowMs: number
}): ReactNode {
  const xOf = (atMs: number): number => ((atMs - view.fromMs) / lengthOf(view)) * widthPx
  const nowPx = xOf(nowMs)
  /** Not where the sign of now would cover it, nor where the end of the chart would cut it. */
  const isShown = (x: number, label: string): boolean =>
    Math.abs(x + 20 - nowPx) >= 36 && x + 8 + label.length * characterPx <= widthPx
  return (
    <div className={styles['axisRows']} aria-hidden="true">
      {axis.major.map(({ atMs, label }, index) => {
        const next = axis.major[index + 1]
        const start = Math.max(0, xOf(atMs))
        const end = next === undefined ? widthPx : xOf(next.atMs)
        return (
          <span
            key={atMs}
            className={styles['major']}
            data-first={xOf(atMs) < 0}
            style={{ left: start, width: Math.max(0, end - start) }}
          >
            {label}
          </span>
        )
      })}
      {axis.minor.map(({ atMs, label }) => (
        <span key={atMs} className={styles['minor']} data-at={atMs} style={{ left: xOf(atMs) }}>
          {isShown(xOf(atMs), label) ? label : ''}
        </span>
      ))}
      {nowPx < 0 || nowPx > widthPx ? null : (
        <span className={styles['now']} style={{ left: nowPx }}>
          {words.now}
        </span>
      )}
    </div>
  )
}

const characterPx = 7.3
