import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Run } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/run.js'
import styles from './page.module.css'

/** What went wrong, before everything else. */
export function RunError({ run: { id, error, state, job } }: { run: Run }): ReactNode {
  const isShown = error !== null && state !== 'done'
  const { data } = useQuery({
    queryKey: ['run', id, 'alike'],
    queryFn: ({ signal }) => api('GET /ui/runs/{id}/alike', { path: { id }, signal }),
    enabled: isShown,
    meta: { topics: ['runs'] },
  })
  if (!isShown) return null
  const alike = data?.group ?? undefined
  const { code, message, stack } = error
  return (
    <section className={styles['error']}>
      <p className={styles['message']} dir="auto">
        {printable(message)}
      </p>
      <p className={styles['code']}>
        <code>{printable(code)}</code>
        {alike === undefined || alike.count < 2 ? null : (
          <>
            <span>
              {words.error.first} <Time at={alike.firstDueAt} />{' '}
              {words.error.since(formatCount(alike.count), data?.capped === true)}
            </span>
            <Link href={`/runs?q=${encodeURIComponent(`state:failed job:${job} error:${code}`)}`}>
              {words.error.same}
            </Link>
          </>
        )}
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
