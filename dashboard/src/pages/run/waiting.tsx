import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { pendingQuery } from '../../data/runs.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/run.js'
import { pendingSentence, words as whyWords } from '../../words/why.js'
import styles from './page.module.css'

/** What a pending run waits for. */
export function Waiting({ id }: { id: string }): ReactNode {
  const { data } = useQuery(pendingQuery(id))
  if (data === undefined || data.reasons.length === 0) return null
  return (
    <section className={styles['waiting']}>
      <h2>{words.waiting}</h2>
      <ul>
        {data.reasons.map((reason) => (
          <li key={reason.kind}>
            {whyWords.waitsFor} {pendingSentence(reason)} {'at' in reason ? <Time at={reason.at} /> : null}
          </li>
        ))}
      </ul>
    </section>
  )
}
