import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { useNow } from '../../../data/now.js'
import { askWhy } from '../../../parts/why/why-address.js'
import { words } from '../../../words/timeline.js'
import { ticksOf } from '../axis/ticks.js'
import { lengthOf, type View } from '../axis/view.js'
import { makeZoneClock } from '../axis/zone-clock.js'
import type { LaneRow } from '../lane/job-lanes.js'
import { itemAt, itemUnder } from '../lane/hit.js'
import type { LaneData } from '../lane/lane-data.js'
import { itemsOf, type Item } from '../lane/merge.js'
import type { Selection } from '../lane/select.js'
import type { ViewState } from '../use-view.js'
import { AxisRows } from './axis-rows.js'
import styles from './chart.module.css'
import { itemText, ItemTooltip } from './item-text.js'
import { LaneLabels } from './lane-labels.js'
import { LanesCanvas } from './lanes-canvas.js'
import { useCursor } from './use-cursor.js'
import { useGestures, type Spot } from './use-gestures.js'
import { useRows } from './use-rows.js'

/** The lanes on one time axis. The marks are on a canvas; names, cursor and selection are elements above it. */
export function Chart({
  rows,
  lanes,
  state,
  zone,
  zoneOfLane,
  triggerAt,
  selection,
  onSelection,
  onRows,
}: {
  rows: readonly LaneRow[]
  lanes: ReadonlyMap<string, LaneData>
  state: ViewState
  /** The zone of the axis. */
  zone: string
  zoneOfLane: (name: string) => string
  /** The trigger whose why panel a period of a lane opens. */
  triggerAt: (lane: string, stretch: View) => string
  selection: Selection | undefined
  onSelection: (selection: Selection | undefined) => void
  /** Reports the lanes that are visible or nearly visible. */
  onRows: (first: number, last: number) => void
}): ReactNode {
  const { view, show } = state
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<HTMLDivElement>(null)
  const nowMs = useNow()
  const { widthPx, rowPx, first, last } = useRows({ box, plot }, rows.length)
  const [hovered, setHovered] = useState<Spot>()
  const [dragged, setDragged] = useState<Selection>()
  useEffect(() => onRows(first, last), [first, last, onRows])

  const msPerPx = lengthOf(view) / Math.max(1, widthPx)
  const clock = useMemo(() => makeZoneClock(zone), [zone])
  const axis = ticksOf(view, { clock, widthPx })
  const itemCache = useRef(new WeakMap<LaneData, { msPerPx: number; items: readonly Item[] }>())
  const itemsOfLane = (index: number): readonly Item[] => {
    const lane = lanes.get(rows[index]?.name ?? '')
    if (lane === undefined) return []
    const known = itemCache.current.get(lane)
    if (known?.msPerPx === msPerPx) return known.items
    const items = itemsOf(lane.points, lane.bars, msPerPx)
    itemCache.current.set(lane, { msPerPx, items })
    return items
  }
  const nameOf = (index: number): string => rows[index]?.name ?? ''
  const laneAt = ({ y }: Spot): number => Math.min(rows.length - 1, Math.max(0, Math.floor(y / rowPx)))
  const timeAt = ({ x }: Spot): number => view.fromMs + x * msPerPx
  const xOf = (atMs: number): number => (atMs - view.fromMs) / msPerPx
  const openWhy = (lane: number, item: Item | undefined, atMs = 0): void => {
    const iso = (ms: number): string => new Date(Math.round(ms)).toISOString()
    const from = iso(item?.fromMs ?? Math.round(atMs / 1000) * 1000)
    const around = item ?? { fromMs: atMs, untilMs: atMs }
    askWhy({
      trigger: triggerAt(nameOf(lane), around),
      from,
      until: item === undefined ? undefined : iso(item.untilMs),
    })
  }

  const cursor = useCursor({
    view,
    show,
    itemsOfLane,
    nameOf,
    lanes: rows.length,
    nowMs,
    selection,
    onSelection,
  })
  const found = cursor.at === undefined ? undefined : itemUnder(itemsOfLane(cursor.at.lane), cursor.at.atMs)
  useEffect(() => {
    const outer = box.current
    if (outer === null || cursor.at === undefined) return
    const top = cursor.at.lane * rowPx
    const height = outer.clientHeight - axisPx
    if (top < outer.scrollTop) outer.scrollTop = top
    else if (top + rowPx > outer.scrollTop + height) outer.scrollTop = top + rowPx - height
  }, [cursor.at, rowPx])

  const handlers = useGestures(plot, {
    show,
    onHover: setHovered,
    onClick: (spot) => {
      const lane = laneAt(spot)
      const item = itemAt(itemsOfLane(lane), timeAt(spot), msPerPx)
      if (item !== undefined) cursor.set({ lane, atMs: item.fromMs })
      openWhy(lane, item, timeAt(spot))
    },
    onSelect: (from, to, isOver) => {
      const times = [timeAt(from), timeAt(to)] as const
      const next = {
        first: nameOf(Math.min(laneAt(from), laneAt(to))),
        last: nameOf(Math.max(laneAt(from), laneAt(to))),
        fromMs: Math.min(...times),
        untilMs: Math.max(...times),
      }
      setDragged(isOver ? undefined : next)
      if (isOver) onSelection(next)
    },
  })
  const hoveredLane = hovered === undefined ? undefined : laneAt(hovered)
  const hoveredItem =
    hovered === undefined || hoveredLane === undefined || dragged !== undefined
      ? undefined
      : itemAt(itemsOfLane(hoveredLane), timeAt(hovered), msPerPx)
  const shown =
    hoveredItem !== undefined && hoveredLane !== undefined
      ? { lane: hoveredLane, item: hoveredItem }
      : found !== undefined && cursor.at !== undefined && cursor.isFocused
        ? { lane: cursor.at.lane, item: found }
        : undefined
  const chosen = dragged ?? selection
  const drawn = rows.slice(first, last).map(({ name }, offset) => ({
    items: itemsOfLane(first + offset),
    bands: lanes.get(name)?.bands ?? [],
    isLoading: !lanes.has(name),
  }))

  return (
    <div ref={box} className={styles['box']}>
      <div className={styles['head']}>
        <span className={styles['corner']} title={zone}>
          {zone}
        </span>
        {/* Dragging is one of several ways to move: keys and buttons do the same. */}
        {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
        <div
          className={styles['axis']}
          {...handlers}
          onPointerDown={(event) => handlers.onPointerDown(event, 'axis')}
        >
          <AxisRows axis={axis} view={view} widthPx={widthPx} nowMs={nowMs} />
        </div>
      </div>
      <div className={styles['body']} style={{ blockSize: rows.length * rowPx }}>
        <div className={styles['labels']}>
          <LaneLabels
            rows={rows}
            first={first}
            last={last}
            rowPx={rowPx}
            cursorLane={cursor.isFocused ? cursor.at?.lane : undefined}
          />
        </div>
        <div
          ref={plot}
          className={styles['plot']}
          role="application"
          aria-label={words.chart}
          aria-describedby="timeline-hint"
          // It takes the focus because the arrow keys move between the marks.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          {...handlers}
          onPointerDown={(event) => handlers.onPointerDown(event, 'plot')}
          onFocus={(event) => cursor.focus(event.target === event.currentTarget)}
          onBlur={() => cursor.focus(false)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && found !== undefined && cursor.at !== undefined) {
              event.preventDefault()
              openWhy(cursor.at.lane, found)
            } else cursor.onKeyDown(event)
          }}
        >
          {widthPx === 0 ? null : (
            <LanesCanvas
              top={first * rowPx}
              view={view}
              widthPx={widthPx}
              rowPx={rowPx}
              nowMs={nowMs}
              rows={drawn}
              nothing={words.nothing}
              days={axis.major}
              ticks={axis.minor}
            />
          )}
          {chosen === undefined ? null : (
            <SelectionBox selection={chosen} rows={rows} rowPx={rowPx} xOf={xOf} />
          )}
          {found === undefined || cursor.at === undefined || !cursor.isFocused ? null : (
            <span
              className={styles['cursor']}
              style={{
                left: xOf(found.fromMs) - (found.kind === 'shape' ? 10 : 2),
                width: Math.max(found.kind === 'shape' ? 20 : 8, xOf(found.untilMs) - xOf(found.fromMs) + 4),
                top: cursor.at.lane * rowPx,
                height: rowPx - 1,
              }}
            />
          )}
          {shown === undefined ? null : (
            <ItemTooltip
              lane={nameOf(shown.lane)}
              item={shown.item}
              zone={zoneOfLane(nameOf(shown.lane))}
              box={plot.current?.getBoundingClientRect()}
              x={Math.min(widthPx - 8, Math.max(0, xOf(shown.item.fromMs)))}
              y={shown.lane * rowPx}
              rowPx={rowPx}
            />
          )}
        </div>
      </div>
      <p id="timeline-hint" className="visually-hidden">
        {words.chartHint}
      </p>
      <p className="visually-hidden" role="status">
        {found === undefined || cursor.at === undefined || !cursor.isFocused
          ? ''
          : itemText(nameOf(cursor.at.lane), found, zoneOfLane(nameOf(cursor.at.lane)), nowMs)}
      </p>
    </div>
  )
}

/** The height of the two rows of the axis. */
const axisPx = 44

function SelectionBox({
  selection,
  rows,
  rowPx,
  xOf,
}: {
  selection: Selection
  rows: readonly LaneRow[]
  rowPx: number
  xOf: (atMs: number) => number
}): ReactNode {
  const one = rows.findIndex(({ name }) => name === selection.first)
  const other = rows.findIndex(({ name }) => name === selection.last)
  if (one < 0 || other < 0) return null
  const [top, bottom] = [Math.min(one, other), Math.max(one, other) + 1]
  const left = Math.max(-20, xOf(selection.fromMs))
  const right = Math.min(20_000, xOf(selection.untilMs))
  return (
    <span
      className={styles['selection']}
      style={{ left, width: Math.max(2, right - left), top: top * rowPx, height: (bottom - top) * rowPx - 1 }}
    />
  )
}
