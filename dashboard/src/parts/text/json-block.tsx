import type { ReactNode } from 'react'
import { printable } from '../../data/printable.js'
import styles from './json-block.module.css'

/** Longer texts would make the page slow; nobody reads them here. */
const mostCharacters = 100_000

/** A JSON value as text, indented. */
export function JsonBlock({ value }: { value: unknown }): ReactNode {
  const text = JSON.stringify(value, undefined, 2) ?? ''
  return (
    // A box that scrolls must be reachable by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className={styles['json']} tabIndex={0}>
      {printable(text.slice(0, mostCharacters))}
    </pre>
  )
}
