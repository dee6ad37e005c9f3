import type { ReactNode } from 'react'
import { themes, useTheme, type Theme } from '../design/theme.js'
import { words } from '../words/shell.js'
import styles from './top-bar.module.css'

const signs: Readonly<Record<Theme, string>> = { system: '◐', light: '○', dark: '●' }

/** Goes through the themes: as the system, light, dark. */
export function ThemeSwitch(): ReactNode {
  const { chosen, choose } = useTheme()
  const label = words.theme.label(words.theme[chosen])
  const next = themes[(themes.indexOf(chosen) + 1) % themes.length] ?? 'system'
  return (
    <button
      type="button"
      className={styles['tool']}
      aria-label={label}
      title={label}
      onClick={() => choose(next)}
    >
      <span aria-hidden="true">{signs[chosen]}</span>
    </button>
  )
}
