import { useCallback, useEffect, useRef, useState } from 'react'
import { useParams } from '../../data/location.js'
import { useNow } from '../../data/now.js'
import { aroundNow, lengthOf, lengthText, readView, type View } from './axis/view.js'

/** The stretch that is shown, and how to show another one. */
export interface ViewState {
  readonly view: View
  /** Whether the stretch moves with the clock. */
  readonly isFollowing: boolean
  /** Shows a stretch; calls within one frame become one. */
  readonly show: (change: (view: View) => View) => void
  /** Shows a length around now and follows the clock. */
  readonly follow: (lengthMs?: number) => void
}

/** While a reader moves, the address waits: browsers refuse too many changes of it. */
const settleMs = 250

/** The stretch stands in the address; while the reader moves it, it is ahead of it. */
export function useView(usualMs: number): ViewState {
  const nowMs = useNow()
  const [params, change] = useParams()
  const [range, from] = [params.get('range'), params.get('from')]
  const [moved, setMoved] = useState<View>()
  const addressed = readView({ range, from }, { nowMs, usualMs })
  const view = moved ?? addressed.view
  const latest = useRef(view)
  const frame = useRef(0)
  const pending = useRef<View>(undefined)
  useEffect(() => {
    latest.current = view
  })
  // Somebody went back, followed a link or opened another stretch.
  useEffect(() => setMoved(undefined), [range, from])
  useEffect(() => {
    if (moved === undefined) return undefined
    const timer = setTimeout(
      () =>
        change(
          { range: lengthText(lengthOf(moved)), from: new Date(moved.fromMs).toISOString() },
          { replace: true },
        ),
      settleMs,
    )
    return () => clearTimeout(timer)
  }, [moved, change])
  useEffect(() => () => cancelAnimationFrame(frame.current), [])
  const show = useCallback((next: (view: View) => View) => {
    const isPlanned = pending.current !== undefined
    pending.current = next(pending.current ?? latest.current)
    if (isPlanned) return
    frame.current = requestAnimationFrame(() => {
      const target = pending.current
      pending.current = undefined
      setMoved(target)
    })
  }, [])
  return {
    view,
    isFollowing: moved === undefined && addressed.isFollowing,
    show,
    follow: (lengthMs = lengthOf(view)) => {
      setMoved(undefined)
      change({ range: lengthText(lengthOf(aroundNow(lengthMs, nowMs))), from: null })
    },
  }
}
