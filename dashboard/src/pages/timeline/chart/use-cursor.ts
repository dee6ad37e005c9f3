import { useState, type KeyboardEvent } from 'react'
import { useKeys } from '../../../shell/keys.js'
import { words } from '../../../words/timeline.js'
import { panned, lengthOf, type View } from '../axis/view.js'
import { itemUnder, moveCursor, type Cursor, type Direction } from '../lane/hit.js'
import type { Item } from '../lane/merge.js'
import type { Selection } from '../lane/select.js'

const directions: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
  Home: 'first',
  End: 'last',
}

/** The cursor that arrow keys move from mark to mark. It scrolls its item into view; Shift selects on the way. */
export function useCursor({
  view,
  show,
  itemsOfLane,
  nameOf,
  lanes,
  nowMs,
  selection,
  onSelection,
}: {
  view: View
  show: (change: (view: View) => View) => void
  itemsOfLane: (lane: number) => readonly Item[]
  nameOf: (lane: number) => string
  lanes: number
  nowMs: number
  selection: Selection | undefined
  onSelection: (selection: Selection | undefined) => void
}) {
  const [at, set] = useState<Cursor>()
  const [anchor, setAnchor] = useState<Cursor>()
  const [isFocused, focus] = useState(false)
  // The sheet lists these keys while they work; the element that has the focus handles them.
  useKeys(
    isFocused
      ? [
          { keys: '← →', label: words.keys.move, act: () => undefined },
          { keys: '↑ ↓', label: words.keys.lane, act: () => undefined },
          { keys: '⇧ ←→↑↓', label: words.keys.extend, act: () => undefined },
          { keys: '⏎', label: words.keys.why, act: () => undefined },
        ]
      : [],
  )

  const move = (direction: Direction, isSelecting: boolean): void => {
    const startMs = nowMs >= view.fromMs && nowMs <= view.untilMs ? nowMs : (view.fromMs + view.untilMs) / 2
    const next = moveCursor(at, direction, { itemsOfLane, lanes, startMs })
    if (next === undefined) return
    set(next)
    show((now) => revealing(now, next.atMs))
    if (!isSelecting) {
      setAnchor(undefined)
      return
    }
    const begin = anchor ?? at ?? next
    setAnchor(begin)
    onSelection(selectionBetween(begin, next, { itemsOfLane, nameOf }))
  }
  return {
    at,
    set,
    isFocused,
    focus,
    onKeyDown: (event: KeyboardEvent) => {
      const direction = directions[event.key]
      if (direction !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault()
        move(direction, event.shiftKey)
      } else if (event.key === 'Escape' && (selection !== undefined || at !== undefined)) {
        event.preventDefault()
        setAnchor(undefined)
        if (selection === undefined) set(undefined)
        else onSelection(undefined)
      }
    },
  }
}

/** Moves a stretch only if an instant lies outside of it. */
function revealing(view: View, atMs: number): View {
  const share = (atMs - view.fromMs) / lengthOf(view)
  if (share >= 0.02 && share <= 0.98) return view
  return panned(view, share < 0.02 ? share - 0.25 : share - 0.75)
}

function selectionBetween(
  one: Cursor,
  other: Cursor,
  {
    itemsOfLane,
    nameOf,
  }: { itemsOfLane: (lane: number) => readonly Item[]; nameOf: (lane: number) => string },
): Selection {
  const ends = [one, other].flatMap(({ lane, atMs }) => {
    const item = itemUnder(itemsOfLane(lane), atMs)
    return item === undefined ? [atMs] : [item.fromMs, item.untilMs]
  })
  return {
    first: nameOf(Math.min(one.lane, other.lane)),
    last: nameOf(Math.max(one.lane, other.lane)),
    fromMs: Math.min(...ends),
    untilMs: Math.max(...ends),
  }
}
