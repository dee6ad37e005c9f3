import type { ReactNode } from 'react'
import type { RunMark } from '../../../../src/client/ui-operations.js'
import { marks, type Family } from '../../design/marks.js'
import { words } from '../../words/charts.js'
import styles from './sparkline.module.css'

const bar = 4
const step = 5
const height = 20

/** The newest runs of a trigger as bars, oldest first: the height is the duration, the colour the state. */
export function Sparkline({ runs, places = 20 }: { runs: readonly RunMark[]; places?: number }): ReactNode {
  const shown = runs.slice(0, places).toReversed()
  const longest = Math.max(1, ...shown.map((run) => tookMs(run) ?? 0))
  const counts = new Map<string, number>()
  for (const { state } of shown) counts.set(state, (counts.get(state) ?? 0) + 1)
  const width = places * step - 1
  // Fewer runs than bars are aligned at the end, so that the newest run is always there.
  const offset = (places - shown.length) * step
  // One path per colour instead of one per bar: a list of triggers would have a thousand.
  const paths = new Map<Family, string>()
  for (const [index, run] of shown.entries()) {
    // A square root keeps short runs visible beside one long run.
    const tall = Math.max(3, Math.round(Math.sqrt((tookMs(run) ?? 0) / longest) * height))
    const { family } = marks[run.state]
    const d = barPath({ x: offset + index * step, tall, isSplit: run.state === 'failed' })
    paths.set(family, `${paths.get(family) ?? ''}${d}`)
  }
  return (
    <svg
      className={styles['spark']}
      role="img"
      aria-label={words.newest([...counts])}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
    >
      <title>{words.newest([...counts])}</title>
      {[...paths].map(([family, d]) => (
        <path key={family} data-family={family} d={d} />
      ))}
    </svg>
  )
}

/** How long a run took, once it has ended. */
export function tookMs({ startedAt, finishedAt }: RunMark): number | undefined {
  if (startedAt === null || finishedAt === null) return undefined
  return Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt))
}

/** A bar. A failed one is split in two, so that it differs without colour, and has a minimum height for that. */
function barPath({ x, tall, isSplit }: { x: number; tall: number; isSplit: boolean }): string {
  if (!isSplit) return `M${x} ${height}v-${tall}h${bar}v${tall}z`
  const size = Math.max(tall, 8)
  const middle = height - Math.round(size / 2)
  return `M${x} ${height}V${middle + 1}h${bar}V${height}zM${x} ${middle - 1}V${height - size}h${bar}V${middle - 1}z`
}
