import { memo, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Trigger } from '../../../../../src/client/operations.js'
import type { Mark } from '../../../design/families.js'
import { StateMark } from '../../../parts/mark.js'
import styles from './chart.module.css'

/** The names of the lanes that are near the screen. */
export const LaneLabels = memo(function LaneLabels({
  triggers,
  first,
  last,
  rowPx,
  cursorLane,
}: {
  triggers: readonly Trigger[]
  first: number
  last: number
  rowPx: number
  cursorLane: number | undefined
}): ReactNode {
  return triggers
    .slice(first, last)
    .map((trigger, offset) => (
      <LaneLabel
        key={trigger.name}
        trigger={trigger}
        top={(first + offset) * rowPx}
        rowPx={rowPx}
        hasCursor={first + offset === cursorLane}
      />
    ))
})

/** Remembered one by one: a scroll draws only the names that are new. */
const LaneLabel = memo(function LaneLabel({
  trigger: { name, job, state },
  top,
  rowPx,
  hasCursor,
}: {
  trigger: Trigger
  top: number
  rowPx: number
  hasCursor: boolean
}): ReactNode {
  const mark = markOf[state]
  return (
    <div
      className={styles['label']}
      data-cursor={hasCursor}
      style={{ insetBlockStart: top, blockSize: rowPx }}
    >
      <Link
        href={`/triggers/${encodeURIComponent(name)}`}
        className={styles['name']}
        title={name === job ? name : `${name} · ${job}`}
      >
        {name}
      </Link>
      {mark === undefined ? null : <StateMark mark={mark} label={false} />}
    </div>
  )
})

/** A trigger that is on needs no mark. */
const markOf: Readonly<Partial<Record<Trigger['state'], Mark>>> = {
  paused: 'paused',
  frozen: 'frozen',
  'switched off': 'switch',
  disabled: 'switch',
  over: 'pruned',
  ended: 'pruned',
}
