import { useEffect, useState, type RefObject } from 'react'

/** The size of the plot, and which lanes are near the screen. */
export interface Rows {
  readonly widthPx: number
  readonly rowPx: number
  readonly first: number
  readonly last: number
}

/** Lanes that are drawn above and below what is seen, so that scrolling shows them at once. */
const overscan = 6
/** Fewer than are drawn beyond what is seen. */
const step = 4
/** Few lanes are higher, so that they fill the window; not higher than this. */
const highestPx = 36
/** What the page needs above and below the lanes. */
const aroundPx = 300
const coarse = matchMedia('(pointer: coarse)')

/** Follows the size and the scrolling of a box. */
export function useRows(
  { box, plot }: { box: RefObject<HTMLElement | null>; plot: RefObject<HTMLElement | null> },
  count: number,
): Rows {
  const [seen, setSeen] = useState({ top: 0, height: 900, widthPx: 0, windowPx: innerHeight })
  const fittingPx = Math.floor((seen.windowPx - aroundPx) / Math.max(1, count))
  const rowPx = Math.max(coarse.matches ? 32 : 24, Math.min(highestPx, fittingPx))
  useEffect(() => {
    const [outer, inner] = [box.current, plot.current]
    if (outer === null || inner === null) return undefined
    const look = (): void =>
      setSeen((before) => {
        // Some lanes at a time: a scroll within them does not render again.
        const top = Math.floor(outer.scrollTop / (rowPx * step)) * rowPx * step
        const next = {
          top,
          height: outer.clientHeight,
          widthPx: inner.clientWidth,
          windowPx: innerHeight,
        }
        return next.top === before.top &&
          next.height === before.height &&
          next.widthPx === before.widthPx &&
          next.windowPx === before.windowPx
          ? before
          : next
      })
    look()
    const observer = new ResizeObserver(look)
    observer.observe(outer)
    observer.observe(inner)
    outer.addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      observer.disconnect()
      removeEventListener('resize', look)
      outer.removeEventListener('scroll', look)
    }
  }, [box, plot, rowPx])
  return {
    widthPx: seen.widthPx,
    rowPx,
    first: Math.max(0, Math.floor(seen.top / rowPx) - overscan),
    last: Math.min(count, Math.ceil((seen.top + seen.height) / rowPx) + overscan),
  }
}
