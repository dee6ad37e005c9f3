import type { ReactNode } from 'react'
import { exactTime, formatCount, formatDuration } from '../../../data/format.js'
import { useNow } from '../../../data/now.js'
import { markWords } from '../../../words/common.js'
import { words } from '../../../words/timeline.js'
import { StateMark } from '../../../parts/state-mark.js'
import type { Item } from '../lane/merge.js'
import { order } from '../lane/select.js'
import type { Tally } from '../lane/points.js'
import styles from './chart.module.css'

/** The states of a tally with their counts, those first that need somebody. */
export function tallyText(tally: Tally): string {
  return order
    .filter((mark) => (tally[mark] ?? 0) > 0)
    .map((mark) => words.selection.count(formatCount(tally[mark] ?? 0), markWords[mark]))
    .join(', ')
}

/** The details of an item besides its state: rule, waiting, duration, clock change. */
export function detailText({ point, bar, mark, fromMs }: Item, nowMs: number): string {
  const { startedMs, finishedMs } = point?.run ?? {}
  const endMs = finishedMs ?? (mark === 'running' ? nowMs : undefined)
  const ran = endMs === undefined || startedMs === undefined ? undefined : formatDuration(endMs - startedMs)
  const parts = [
    bar?.text,
    point?.rule,
    point?.change,
    startedMs === undefined || startedMs - fromMs < 1000
      ? undefined
      : words.tooltip.waited(formatDuration(startedMs - fromMs)),
    ran === undefined ? undefined : mark === 'running' ? words.tooltip.runs(ran) : words.tooltip.took(ran),
  ]
  return parts.filter((part) => part !== undefined && part !== '').join(' · ')
}

/** When an item was due, in a zone, with its offset. */
export function whenText({ fromMs, untilMs, kind }: Item, zone: string, nowMs: number): string {
  const text = (ms: number): string => {
    const { date, isToday, clock, offset } = exactTime(ms, zone, { now: nowMs })
    return `${isToday ? '' : `${date} `}${clock} ${offset}`
  }
  return kind === 'shape' || fromMs === untilMs
    ? text(fromMs)
    : `${text(fromMs)} ${words.tooltip.to} ${text(untilMs)}`
}

/** An item as one line of text, for screen readers. */
export function itemText(lane: string, item: Item, zone: string, nowMs: number): string {
  return [lane, tallyText(item.tally), whenText(item, zone, nowMs), detailText(item, nowMs)]
    .filter((part) => part !== '')
    .join(', ')
}

/** The item under the pointer or the cursor. The tooltip is below its lane, or above it if there is no space. */
export function ItemTooltip({
  lane,
  item,
  zone,
  box,
  x,
  y,
  rowPx,
}: {
  lane: string
  item: Item
  zone: string
  /** Where the plot is on the screen. */
  box: DOMRect | undefined
  x: number
  y: number
  rowPx: number
}): ReactNode {
  const nowMs = useNow()
  const detail = detailText(item, nowMs)
  const [left, top] = [(box?.left ?? 0) + x, (box?.top ?? 0) + y]
  const isAbove = top + rowPx + roomPx.height > innerHeight
  return (
    <div
      className={styles['tooltip']}
      data-end={left + roomPx.width > innerWidth && left > innerWidth / 2}
      data-above={isAbove}
      style={{ left, top: isAbove ? top - 4 : top + rowPx + 4 }}
    >
      <strong className="cut">{lane}</strong>
      <StateMark
        mark={item.mark}
        label={item.kind === 'bar' ? markWords[item.mark] : tallyText(item.tally)}
      />
      <span className="mono">{whenText(item, zone, nowMs)}</span>
      {detail === '' ? null : <span className="soft">{detail}</span>}
    </div>
  )
}

/** How much room a tooltip needs. */
const roomPx = { width: 280, height: 110 }
