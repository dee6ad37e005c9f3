/** What a reader chose, kept in this browser: theme, zone, saved views. Never a token. */
import { useSyncExternalStore } from 'react'

/** The names of the settings. */
export type Setting = 'theme' | 'zone' | 'keys' | 'views'

const listeners = new Set<() => void>()

/** A setting and how to keep another value. All tabs see the change. */
export function useSetting(name: Setting): readonly [string | null, (value: string | null) => void] {
  const value = useSyncExternalStore(subscribe, () => readSetting(name))
  return [value, (next) => keepSetting(name, next)]
}

/** A setting as it is now. */
export function readSetting(name: Setting): string | null {
  try {
    return localStorage.getItem(keyOf(name))
  } catch {
    // A browser may refuse storage; the page works without it.
    return null
  }
}

/** Keeps a setting; null removes it. */
export function keepSetting(name: Setting, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(keyOf(name))
    else localStorage.setItem(keyOf(name), value)
  } catch {
    // As above.
  }
  for (const listener of listeners) listener()
}

function keyOf(name: Setting): string {
  return `rota.${name}`
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}
