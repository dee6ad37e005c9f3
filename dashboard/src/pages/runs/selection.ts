/** The runs that are selected: some by their ids, or all that match the filter, on this page and on others. */
export type Selection = ReadonlySet<string> | 'all'

/** Nothing is selected. */
export const noSelection: Selection = new Set()

/** Whether a run is selected. */
export function isSelected(selection: Selection, id: string): boolean {
  return selection === 'all' || selection.has(id)
}

/** Selects a run, or takes it out of the selection; of all that match, only those of the page stay. */
export function toggled(selection: Selection, id: string, page: readonly string[]): Selection {
  const ids = new Set(selection === 'all' ? page : selection)
  if (!ids.delete(id)) ids.add(id)
  return ids
}

/** Selects all runs between two rows, as shift and a click do. */
export function extended(selection: Selection, range: readonly string[]): Selection {
  return selection === 'all' ? selection : new Set([...selection, ...range])
}
