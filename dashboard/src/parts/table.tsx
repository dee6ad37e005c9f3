import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react'
import styles from './table.module.css'

/** A column: its heading and its cell. */
export interface Column<Row> {
  readonly key: string
  readonly head: ReactNode
  readonly cell: (row: Row) => ReactNode
  /** Numbers and times stand at the end. */
  readonly align?: 'start' | 'end'
  /** Whether it takes the space that is left, and cuts its text. */
  readonly grows?: boolean
  /** Whether narrow screens leave it out. */
  readonly isExtra?: boolean
  /** Whether a row has nothing in it. A column that is empty in all rows is not shown. */
  readonly isEmpty?: (row: Row) => boolean
}

/** A real table for few rows. Many rows belong in a `VirtualList`. */
export function Table<Row>({
  label,
  columns: all,
  rows,
  rowKey,
  isSelected,
  cursor,
}: {
  /** What the rows are, for screen readers. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  isSelected?: (row: Row) => boolean
  /** The key of the row that the keyboard is at. */
  cursor?: string | undefined
}): ReactNode {
  const ref = useRef<HTMLDivElement>(null)
  const isWide = useIsWide(ref)
  const columns = all.filter(({ isEmpty }) => isEmpty === undefined || !rows.every(isEmpty))
  useEffect(() => {
    ref.current?.querySelector('[data-cursor="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [cursor])
  return (
    // A box that scrolls must be reachable by keyboard; one that does not must not be a stop.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={ref} className={styles['scroll']} tabIndex={isWide ? 0 : undefined}>
      <table className={styles['table']}>
        <caption className="visually-hidden">{label}</caption>
        <thead>
          <tr>
            {columns.map(({ key, head, align, grows, isExtra }) => (
              <th key={key} scope="col" data-align={align} data-grows={grows} data-extra={isExtra}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              data-selected={isSelected?.(row)}
              data-cursor={cursor === undefined ? undefined : rowKey(row) === cursor}
            >
              {columns.map(({ key, head, cell, align, grows, isExtra }) => (
                <td
                  key={key}
                  data-align={align}
                  data-grows={grows}
                  data-extra={isExtra}
                  // Narrow screens have no headings.
                  data-label={align === 'end' && typeof head === 'string' && head !== '' ? head : undefined}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Whether the content of a box is wider than the box. */
function useIsWide(box: RefObject<HTMLElement | null>): boolean {
  const [isWide, setWide] = useState(false)
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => setWide(element.scrollWidth > element.clientWidth))
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    return () => observer.disconnect()
  }, [box])
  return isWide
}
