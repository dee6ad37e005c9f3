import { useEffect, useState } from 'react'
import type { Run } from '../../../../src/client/operations.js'

/** Rows that do not move under the pointer: new ones wait until the reader asks for them, or looks elsewhere. */
export interface SteadyRows {
  readonly items: readonly Run[]
  /** How many new rows wait. */
  readonly waiting: number
  readonly show: () => void
  readonly hold: () => void
  readonly release: () => void
}

/** Keeps the rows of a page where they are while the pointer is over them; what changed inside a row is shown at once. */
export function useSteadyRows(fresh: readonly Run[] | undefined, page: string): SteadyRows {
  const [isHeld, setHeld] = useState(false)
  const [kept, setKept] = useState<{ page: string; ids: readonly string[] }>({ page, ids: [] })
  const known = new Set(kept.ids)
  const isSteady = isHeld && kept.page === page && kept.ids.length > 0
  const waiting = isSteady ? (fresh ?? []).filter(({ id }) => !known.has(id)).length : 0
  useEffect(() => {
    if (fresh !== undefined && !isSteady) setKept({ page, ids: fresh.map(({ id }) => id) })
  }, [fresh, isSteady, page])
  const byId = new Map((fresh ?? []).map((run) => [run.id, run]))
  const items = isSteady ? kept.ids.flatMap((id) => byId.get(id) ?? []) : (fresh ?? [])
  return {
    items,
    waiting,
    show: () => setKept({ page, ids: (fresh ?? []).map(({ id }) => id) }),
    hold: () => setHeld(true),
    release: () => setHeld(false),
  }
}
