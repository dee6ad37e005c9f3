import type { ReactNode } from 'react'
import styles from './facts.module.css'

/** Names and values, one line each; those without a value are left out. */
export function FactList({
  facts,
}: {
  facts: readonly (readonly [name: string, value: ReactNode])[]
}): ReactNode {
  return (
    <dl className={styles['facts']}>
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
