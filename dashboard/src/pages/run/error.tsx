import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Run } from '../../../../src/client/operations.js'
import { printable } from '../../data/printable.js'
import { words } from '../../words/run.js'
import styles from './page.module.css'

/** What went wrong, before everything else. */
export function RunError({ run: { error, state, job } }: { run: Run }): ReactNode {
  if (error === null || state === 'done') return null
  const { code, message, stack } = error
  return (
    <section className={styles['error']}>
      <p className={styles['message']} dir="auto">
        {printable(message)}
      </p>
      <p className={styles['code']}>
        <code>{printable(code)}</code>
        <Link href={`/runs?q=${encodeURIComponent(`state:failed job:${job}`)}`}>{words.error.same}</Link>
      </p>
      {stack === null ? null : (
        <details>
          <summary>{words.error.stack}</summary>
          <pre className={styles['stack']}>{printable(stack)}</pre>
        </details>
      )}
    </section>
  )
}
