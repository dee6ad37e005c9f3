import { useSyncExternalStore } from 'react'
import { readSetting, useSetting } from '../data/settings.js'

/** What a reader chose: one of the two, or what their system says. */
export type Theme = 'system' | 'light' | 'dark'

/** The themes, in the order in which the switch goes through them. */
export const themes: readonly Theme[] = ['system', 'light', 'dark']

const prefersDark = matchMedia('(prefers-color-scheme: dark)')

/** The theme that was chosen, the one that is shown, and how to choose another one. */
export function useTheme(): {
  readonly chosen: Theme
  readonly shown: 'light' | 'dark'
  readonly choose: (theme: Theme) => void
} {
  const [text, keep] = useSetting('theme')
  const chosen = asTheme(text)
  const isDark = useSyncExternalStore(subscribe, () => prefersDark.matches)
  return {
    chosen,
    shown: chosen === 'system' ? (isDark ? 'dark' : 'light') : chosen,
    choose: (theme) => {
      showTheme(theme)
      keep(theme)
    },
  }
}

/** Shows the theme that was chosen before, as soon as the page begins. */
export function showChosenTheme(): void {
  showTheme(asTheme(readSetting('theme')))
}

function showTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme
}

function asTheme(text: string | null): Theme {
  return themes.find((theme) => theme === text) ?? 'system'
}

function subscribe(listener: () => void): () => void {
  prefersDark.addEventListener('change', listener)
  return () => prefersDark.removeEventListener('change', listener)
}
