import type { ReactNode } from 'react'
import { formatCount } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import { CopyButton } from '../../parts/copy-button.js'
import { Panel } from '../../parts/panel.js'
import { words } from '../../words/run.js'
import styles from './page.module.css'

const mostCharacters = 50_000

/** A value as JSON, to read and to copy; nothing if there is no value. */
export function JsonPanel({ title, value }: { title: string; value: unknown }): ReactNode {
  if (value === null || value === undefined) return null
  const text = JSON.stringify(value, undefined, 2)
  const cut = text.length - mostCharacters
  return (
    <Panel title={title} aside={<CopyButton text={text} />}>
      <pre className={styles['json']}>
        {printable(text.slice(0, mostCharacters))}
        {cut > 0 ? words.log.cut(formatCount(cut)) : null}
      </pre>
    </Panel>
  )
}
