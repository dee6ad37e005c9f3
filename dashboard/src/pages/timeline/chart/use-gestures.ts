import { useEffect, useRef, type PointerEvent, type RefObject } from 'react'
import { panned, zoomed, type View } from '../axis/view.js'

/** A place on the plot, in pixels. */
export interface Spot {
  readonly x: number
  readonly y: number
}

/** What a reader does with a pointer. */
export interface Gestures {
  readonly show: (change: (view: View) => View) => void
  /** A drag over the plot, while it goes on and at its end. */
  readonly onSelect: (from: Spot, to: Spot, isOver: boolean) => void
  readonly onClick: (spot: Spot) => void
  readonly onHover: (spot: Spot | undefined) => void
}

/** A pointer that moved less than this has clicked. */
const clickPx = 4
const wheelZoom = 0.0022

interface Held {
  readonly start: Spot
  last: Spot
  readonly kind: 'pan' | 'select'
  hasMoved: boolean
}

/**
 * The pointer: a drag over the plot selects, a drag on the axis moves; fingers move, and two of them zoom. The wheel moves
 * with Shift or sideways, and zooms with Ctrl, which is also how browsers report a pinch on a touchpad.
 */
export function useGestures(plot: RefObject<HTMLElement | null>, gestures: Gestures) {
  const latest = useRef(gestures)
  useEffect(() => {
    latest.current = gestures
  })
  useEffect(() => {
    const element = plot.current
    if (element === null) return undefined
    const onWheel = (event: WheelEvent): void => wheel(event, element, latest.current)
    // React listens passively; a zoom must keep the browser from zooming the page.
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [plot])

  const held = useRef(new Map<number, Held>())
  const spotOf = ({ clientX, clientY }: PointerEvent): Spot => {
    const box = plot.current?.getBoundingClientRect()
    return { x: clientX - (box?.left ?? 0), y: clientY - (box?.top ?? 0) }
  }
  return {
    onPointerDown: (event: PointerEvent, where: 'axis' | 'plot') => {
      if (event.button !== 0 && event.pointerType === 'mouse') return
      const start = spotOf(event)
      const kind = where === 'plot' && event.pointerType !== 'touch' ? 'select' : 'pan'
      held.current.set(event.pointerId, { start, last: start, kind, hasMoved: false })
      event.currentTarget.setPointerCapture(event.pointerId)
    },
    onPointerMove: (event: PointerEvent) => {
      const spot = spotOf(event)
      const one = held.current.get(event.pointerId)
      if (one === undefined) {
        if (event.pointerType !== 'touch') latest.current.onHover(spot)
        return
      }
      if (Math.hypot(spot.x - one.start.x, spot.y - one.start.y) >= clickPx) one.hasMoved = true
      const width = plot.current?.clientWidth ?? 1
      if (one.hasMoved && held.current.size === 2) pinch(held.current, one, spot, width, latest.current)
      else if (one.hasMoved && one.kind === 'pan') {
        const byPx = one.last.x - spot.x
        latest.current.show((view) => panned(view, byPx / width))
      } else if (one.hasMoved) latest.current.onSelect(one.start, spot, false)
      one.last = spot
    },
    onPointerUp: (event: PointerEvent) => {
      const one = held.current.get(event.pointerId)
      held.current.delete(event.pointerId)
      if (one === undefined) return
      if (!one.hasMoved) latest.current.onClick(one.start)
      else if (one.kind === 'select') {
        // What lay under the pointer before the drag would cover the selection.
        latest.current.onHover(undefined)
        latest.current.onSelect(one.start, spotOf(event), true)
      }
    },
    onPointerCancel: (event: PointerEvent) => void held.current.delete(event.pointerId),
    onPointerLeave: () => latest.current.onHover(undefined),
  }
}

function wheel(event: WheelEvent, element: HTMLElement, { show }: Gestures): void {
  const width = element.clientWidth
  const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault()
    const share = (event.clientX - element.getBoundingClientRect().left) / width
    const factor = Math.exp(Math.max(-200, Math.min(200, event.deltaY)) * wheelZoom)
    show((view) => zoomed(view, factor, share))
  } else if (isSideways) {
    event.preventDefault()
    const byPx = event.deltaX === 0 ? event.deltaY : event.deltaX
    show((view) => panned(view, byPx / width))
  }
}

function pinch(
  held: ReadonlyMap<number, Held>,
  moved: Held,
  spot: Spot,
  width: number,
  { show }: Gestures,
): void {
  const other = [...held.values()].find((one) => one !== moved)
  if (other === undefined) return
  const before = Math.max(20, Math.abs(moved.last.x - other.last.x))
  const after = Math.max(20, Math.abs(spot.x - other.last.x))
  show((view) => zoomed(view, before / after, (spot.x + other.last.x) / 2 / width))
}
