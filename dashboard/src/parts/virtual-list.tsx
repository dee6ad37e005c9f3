import { useEffect, useRef, useState, type ReactNode } from 'react'
import styles from './virtual-list.module.css'

/**
 * A list of rows of one height, of which only those on the screen are drawn. Screen readers get a table with the number of
 * each row. Browsers cannot scroll over some 30 million pixels; so at most 500,000 rows are reachable.
 */
export function VirtualList({
  label,
  count,
  rowHeight,
  row,
  onEnd,
  onShow,
  head,
  showRow,
}: {
  /** What the rows are. */
  label: string
  count: number
  rowHeight: number
  /** Draws a row: an element with `role="row"` and cells with `role="cell"`. */
  row: (index: number) => ReactNode
  /** The end came near: more rows may be read. */
  onEnd?: () => void
  /** Tells the first row on the screen when it changes. */
  onShow?: (index: number) => void
  head?: ReactNode
  /** A row to bring into view when it changes: the one with the cursor. */
  showRow?: number | undefined
}): ReactNode {
  const ref = useRef<HTMLDivElement>(null)
  // In rows: they are drawn again when another one comes into view, not with every pixel.
  const [top, setTop] = useState(0)
  const [fitting, setFitting] = useState(Math.ceil(800 / rowHeight))
  const rows = Math.min(count, 500_000)
  const first = Math.max(0, top - overscan)
  const last = Math.min(rows, top + fitting + 1 + overscan)

  useEffect(() => {
    const box = ref.current
    if (box === null) return undefined
    const look = (): void => {
      setTop(Math.floor(box.scrollTop / rowHeight))
      setFitting(Math.ceil(box.clientHeight / rowHeight))
    }
    // It looks at once, when the box has been laid out.
    const observer = new ResizeObserver(look)
    observer.observe(box)
    box.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      box.removeEventListener('scroll', look)
    }
  }, [rowHeight])

  useEffect(() => {
    if (last >= rows - overscan) onEnd?.()
  }, [last, rows, onEnd])

  useEffect(() => onShow?.(top), [top, onShow])

  useEffect(() => {
    const box = ref.current
    if (box === null || showRow === undefined) return
    const at = showRow * rowHeight
    if (at < box.scrollTop) box.scrollTop = at
    else if (at + rowHeight > box.scrollTop + box.clientHeight)
      box.scrollTop = at + rowHeight - box.clientHeight
  }, [showRow, rowHeight])

  return (
    <div role="table" aria-label={label} aria-rowcount={rows} className={styles['table']}>
      {head}
      <div
        ref={ref}
        className={styles['scroll']}
        role="rowgroup"
        // A box that scrolls must be reachable by keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
      >
        <div className={styles['space']} role="presentation" style={{ blockSize: rows * rowHeight }}>
          {Array.from({ length: Math.max(0, last - first) }, (_, offset) => {
            const index = first + offset
            return (
              <div
                key={index}
                className={styles['row']}
                role="presentation"
                style={{ insetBlockStart: index * rowHeight, blockSize: rowHeight }}
              >
                {row(index)}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

const overscan = 8
