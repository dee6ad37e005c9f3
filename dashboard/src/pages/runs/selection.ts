/** The ids of the runs that are selected. */
export type Selection = ReadonlySet<string>

/** Nothing is selected. */
export const noSelection: Selection = new Set()

/** Selects a run, or takes it out of the selection. */
export function toggled(selection: Selection, id: string): Selection {
  const ids = new Set(selection)
  if (!ids.delete(id)) ids.add(id)
  return ids
}

/** Selects all runs between two rows, as shift and a click do. */
export function extended(selection: Selection, range: readonly string[]): Selection {
  return new Set([...selection, ...range])
}
