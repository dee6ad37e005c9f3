import { useCallback, useEffect, useRef, useState } from 'react'

/** At most so many are changed at once. */
const most = 1000

/** Which triggers are selected, and how to change that. */
export interface Selection {
  readonly names: readonly string[]
  readonly isAll: boolean
  readonly has: (index: number) => boolean
  /** Selects a row or takes it out; a range goes from the one touched last. The same function each time, so that rows need not be drawn again. */
  readonly toggle: (index: number, isRange: boolean) => void
  readonly toggleAll: () => void
  readonly clear: () => void
}

/** The selection in a list. It belongs to names: rows that come and go do not change it. */
export function useSelection(rows: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [last, setLast] = useState<number>()
  const toggle = (index: number, isRange: boolean): void => {
    const next = new Set(chosen)
    const from = isRange && last !== undefined ? last : index
    const isOn = !chosen.has(rows[index] ?? '')
    for (let at = Math.min(from, index); at <= Math.max(from, index); at += 1) {
      const name = rows[at]
      if (name === undefined) continue
      if (!isOn) next.delete(name)
      else if (next.size < most) next.add(name)
    }
    setChosen(next)
    setLast(index)
  }
  const latest = useRef(toggle)
  useEffect(() => {
    latest.current = toggle
  })
  const sameToggle = useCallback(
    (index: number, isRange: boolean): void => latest.current(index, isRange),
    [],
  )
  return {
    names: [...chosen],
    isAll: rows.length > 0 && chosen.size >= Math.min(rows.length, most),
    has: (index) => chosen.has(rows[index] ?? ''),
    toggle: sameToggle,
    toggleAll: () => setChosen(chosen.size > 0 ? new Set() : new Set(rows.slice(0, most))),
    clear: () => setChosen(new Set()),
  }
}
