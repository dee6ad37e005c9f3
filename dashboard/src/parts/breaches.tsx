import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { SlaBreach } from '../../../src/client/operations.js'
import { broken, words } from '../words/why.js'
import { Time } from './time.js'

/** Promises that were broken, with the runs that broke them. */
export function Breaches({ breaches }: { breaches: readonly SlaBreach[] }): ReactNode {
  if (breaches.length === 0) return null
  return (
    <section>
      <h3>{words.breaches}</h3>
      <ul>
        {breaches.map((breach) => (
          <li key={`${breach.of} ${breach.name} ${breach.rule} ${breach.run ?? ''} ${breach.deadlineAt}`}>
            SLA of {breach.of} {breach.name}: {broken(breach)} {words.by} <Time at={breach.deadlineAt} />{' '}
            {breach.run === null ? null : <Link href={`/runs/${breach.run}`}>{words.openRun}</Link>}
          </li>
        ))}
      </ul>
    </section>
  )
}
