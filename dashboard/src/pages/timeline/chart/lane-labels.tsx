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
  return triggers.slice(first, last).map(({ name, job, state }, offset) => {
    const mark = markOf[state]
    return (
      <div
        key={name}
        className={styles['label']}
        data-cursor={first + offset === cursorLane}
        style={{ insetBlockStart: (first + offset) * rowPx, blockSize: rowPx }}
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
