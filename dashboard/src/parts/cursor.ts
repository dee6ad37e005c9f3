import { useState } from 'react'
import { useKeys } from '../shell/keys.js'

/** A row of a list that the keyboard is at, by its key. */
export interface Cursor {
  readonly at: string | undefined
  readonly move: (key: string | undefined) => void
}

/** Moves through the rows of a list by `j` and `k`; other keys act on the row that the cursor is at. */
export function useCursor(
  keys: readonly string[],
  actions: readonly { readonly keys: string; readonly label: string; readonly act: (key: string) => void }[],
  labels: { readonly down: string; readonly up: string },
): Cursor {
  const [at, move] = useState<string>()
  const index = at === undefined ? -1 : keys.indexOf(at)
  const step = (by: number): void => move(keys[Math.max(0, Math.min(keys.length - 1, index + by))])
  useKeys([
    { keys: 'j', label: labels.down, act: () => step(1) },
    { keys: 'k', label: labels.up, act: () => step(-1) },
    ...actions.map(({ keys: name, label, act }) => ({
      keys: name,
      label,
      act: () => {
        const key = keys[index]
        if (key !== undefined) act(key)
      },
    })),
  ])
  return { at: index < 0 ? undefined : at, move }
}
