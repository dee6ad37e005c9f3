/** Filters that a reader saved under a name, in this browser. */
import { useSetting } from './settings.js'

/** A saved filter. */
export interface SavedView {
  readonly name: string
  readonly q: string
  /** Whether it is shown where the address has no filter. */
  readonly isDefault: boolean
}

const mostViews = 20

/** The saved views, and how to save and remove one. */
export function useViews(): {
  readonly views: readonly SavedView[]
  readonly save: (view: SavedView) => void
  readonly remove: (name: string) => void
  /** Puts all of them back as they were. */
  readonly restore: (views: readonly SavedView[]) => void
} {
  const [text, keep] = useSetting('views')
  const views = readViews(text)
  const write = (next: readonly SavedView[]): void => keep(next.length === 0 ? null : JSON.stringify(next))
  return {
    views,
    save: (view) => {
      const others = views
        .filter(({ name }) => name !== view.name)
        .map((one) => (view.isDefault ? { ...one, isDefault: false } : one))
      write([...others, view].slice(-mostViews))
    },
    remove: (name) => write(views.filter((view) => view.name !== name)),
    restore: write,
  }
}

function readViews(text: string | null): readonly SavedView[] {
  try {
    const given: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(given) ? given.filter(isView) : []
  } catch {
    return []
  }
}

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null) return false
  const { name, q, isDefault } = value as Partial<Record<string, unknown>>
  return typeof name === 'string' && typeof q === 'string' && typeof isDefault === 'boolean'
}
