import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Run } from '../../../../src/client/operations.js'
import { printable } from '../../data/printable.js'
import { Panel } from '../../parts/panel.js'
import { words } from '../../words/run.js'
import styles from './page.module.css'

/** Where the run comes from, and what it is bound to. */
export function Facts({ run }: { run: Run }): ReactNode {
  const { trigger, job, origin, partition, labels, worker, priority, uniqueKey, reason, crashes } = run
  const facts: readonly (readonly [string, ReactNode])[] = [
    [words.fact.origin, words.origins[origin]],
    [
      words.fact.trigger,
      trigger === null ? null : <Link href={`/triggers/${encodeURIComponent(trigger)}`}>{trigger}</Link>,
    ],
    [words.fact.job, <Link href={`/runs?q=${encodeURIComponent(`job:${job}`)}`}>{job}</Link>],
    [words.fact.partition, partition],
    [words.fact.worker, worker],
    [words.fact.reason, reason === null ? null : printable(reason)],
    [words.fact.priority, priority === 0 ? null : priority],
    [words.fact.crashes, crashes === 0 ? null : crashes],
    [words.fact.uniqueKey, uniqueKey === null ? null : printable(uniqueKey)],
    [
      words.fact.labels,
      labels === null
        ? null
        : Object.entries(labels).map(([name, value]) => (
            <div key={name}>{printable(`${name}: ${value}`)}</div>
          )),
    ],
  ]
  return (
    <Panel title={words.facts} padded>
      <dl className={styles['facts']}>
        {facts.map(([name, value]) =>
          value === null ? null : (
            <div key={name} style={{ display: 'contents' }}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </Panel>
  )
}
