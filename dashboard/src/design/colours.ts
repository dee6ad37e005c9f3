import { families, type Family } from './marks.js'
import { useTheme } from './theme.js'
import { useMemo } from 'react'

/** The colours of the page as texts: a canvas knows no `var()`. */
export interface Colours {
  readonly background: string
  readonly surface: string
  readonly text: string
  readonly textSoft: string
  readonly line: string
  readonly focus: string
  readonly fill: Readonly<Record<Family, string>>
  readonly ink: Readonly<Record<Family, string>>
}

/** The colours of the theme in use; read once for each change of the theme. */
export function useColours(): Colours {
  const { shown } = useTheme()
  return useMemo(() => readColours(shown), [shown])
}

/** Reads the colours; what they are depends on the theme that the page shows. */
function readColours(_shown: 'light' | 'dark'): Colours {
  const probe = document.createElement('span')
  document.body.append(probe)
  // `light-dark()` is only resolved where a property uses it.
  const read = (token: string): string => {
    probe.style.color = `var(--${token})`
    return getComputedStyle(probe).color
  }
  const readAll = (part: string): Record<Family, string> =>
    Object.fromEntries(families.map((family) => [family, read(`${family}-${part}`)])) as Record<
      Family,
      string
    >
  const colours = {
    background: read('background'),
    surface: read('surface'),
    text: read('text'),
    textSoft: read('text-soft'),
    line: read('line'),
    focus: read('focus'),
    fill: readAll('fill'),
    ink: readAll('ink'),
  }
  probe.remove()
  return colours
}
