import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { Partition } from '../../../../src/client/operations.js'
import { StateMark } from '../../parts/state-mark.js'
import { words } from '../../words/assets.js'
import { gridOf } from './grid.js'
import styles from './partition-grid.module.css'

type Range = readonly [from: number, to: number]

/**
 * Partitions as marks. Dragging over them selects a range; with the keyboard, arrows move and shift with arrows selects.
 */
export function PartitionGrid({
  items,
  selected,
  onSelect,
}: {
  items: readonly Partition[]
  selected: Range | undefined
  onSelect: (range: Range | undefined) => void
}): ReactNode {
  const { rows, columns, first } = gridOf(items)
  const box = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState(items.length - 1)
  const [anchor, setAnchor] = useState<number>()
  const [isDragging, setDragging] = useState(false)
  const here = Math.min(at, items.length - 1)

  useEffect(() => {
    const end = (): void => setDragging(false)
    addEventListener('pointerup', end)
    return () => removeEventListener('pointerup', end)
  }, [])

  const extend = (to: number, from = anchor ?? to): void => onSelect([Math.min(from, to), Math.max(from, to)])
  const begin = (index: number, isRange: boolean): void => {
    setAt(index)
    if (isRange && anchor !== undefined) extend(index)
    else {
      setAnchor(index)
      extend(index, index)
    }
  }
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.key === 'Escape' && selected !== undefined) {
      event.stopPropagation()
      setAnchor(undefined)
      onSelect(undefined)
      return
    }
    // Rows are newest first: up is later.
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: columns, ArrowDown: -columns }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const next = Math.max(0, Math.min(items.length - 1, here + by))
    setAt(next)
    if (event.shiftKey) {
      setAnchor(anchor ?? here)
      extend(next, anchor ?? here)
    } else setAnchor(undefined)
    box.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus()
  }

  return (
    // The partitions take the focus.
    // oxlint-disable-next-line jsx-a11y/interactive-supports-focus
    <div ref={box} className={styles['grid']} role="group" aria-label={words.gridLabel} onKeyDown={onKeyDown}>
      {first === undefined ? null : <Heads first={first} columns={columns} />}
      {rows.map(({ key, cells }) => (
        <div key={`${key} ${cells[0]?.index ?? 0}`} className={styles['row']}>
          <span className={styles['head']}>{words.rowName(key)}</span>
          <div className={styles['cells']} style={{ gridTemplateColumns: `repeat(${columns}, var(--cell))` }}>
            {cells.map(({ partition, index, column }) => {
              const isIn = selected !== undefined && index >= selected[0] && index <= selected[1]
              const text = words.cell(partition.partition, partition.state)
              return (
                <button
                  key={partition.partition}
                  type="button"
                  className={styles['cell']}
                  style={{ gridColumn: column }}
                  data-index={index}
                  data-selected={isIn}
                  tabIndex={index === here ? 0 : -1}
                  aria-pressed={isIn}
                  aria-label={text}
                  title={text}
                  onPointerDown={(event) => {
                    // Otherwise a touch stays captured by its button, and nothing can be dragged.
                    event.currentTarget.releasePointerCapture(event.pointerId)
                    setDragging(true)
                    begin(index, event.shiftKey)
                  }}
                  onPointerEnter={() => {
                    if (isDragging) extend(index)
                  }}
                  onClick={({ detail }) => {
                    // Enter and space; a pointer has selected already.
                    if (detail === 0) begin(index, false)
                  }}
                >
                  <StateMark mark={partition.state} label={false} size={13} />
                </button>
              )
            })}
          </div>
        </div>
      ))}
    </div>
  )
}

/** What the columns are: hours, days, weeks or months. Each partition says it for screen readers. */
function Heads({ first, columns }: { first: number; columns: number }): ReactNode {
  const numbers = Array.from({ length: columns }, (_, index) => first + index)
  return (
    <div className={`${styles['row']} ${styles['heads']}`} aria-hidden="true">
      <span className={styles['head']} />
      <div className={styles['cells']} style={{ gridTemplateColumns: `repeat(${columns}, var(--cell))` }}>
        {numbers.map((number) => (
          <span key={number}>{number}</span>
        ))}
      </div>
    </div>
  )
}
