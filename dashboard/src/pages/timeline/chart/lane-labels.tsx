import { memo, type ReactNode } from 'react'
import { Link } from 'wouter'
import { LongName } from '../../../parts/text/long-name.js'
import { StateMark } from '../../../parts/state-mark.js'
import type { LaneRow } from '../lane/job-lanes.js'
import styles from './chart.module.css'

/** The names of the lanes that are near the screen. */
export const LaneLabels = memo(function LaneLabels({
  rows,
  first,
  last,
  rowPx,
  cursorLane,
}: {
  rows: readonly LaneRow[]
  first: number
  last: number
  rowPx: number
  cursorLane: number | undefined
}): ReactNode {
  return rows
    .slice(first, last)
    .map((row, offset) => (
      <LaneLabel
        key={row.name}
        row={row}
        top={(first + offset) * rowPx}
        rowPx={rowPx}
        hasCursor={first + offset === cursorLane}
      />
    ))
})

/** Remembered one by one: a scroll draws only the names that are new. */
const LaneLabel = memo(function LaneLabel({
  row: { name, title, href, mark },
  top,
  rowPx,
  hasCursor,
}: {
  row: LaneRow
  top: number
  rowPx: number
  hasCursor: boolean
}): ReactNode {
  return (
    <div
      className={styles['label']}
      data-cursor={hasCursor}
      style={{ insetBlockStart: top, blockSize: rowPx }}
    >
      <Link href={href} className={styles['name']} title={title} aria-label={name}>
        <LongName>{name}</LongName>
      </Link>
      {mark === undefined ? null : <StateMark mark={mark} label={false} />}
    </div>
  )
})
