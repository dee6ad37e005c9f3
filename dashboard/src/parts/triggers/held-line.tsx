import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { holdQuery } from '../../data/holds.js'
import { printable } from '../../data/printable.js'
import { words } from '../../words/trigger-changes.js'
import { Time } from '../time.js'
import styles from './held-line.module.css'

/** Who holds a trigger back, why, since when and until when. */
export function HeldLine({
  by,
  note,
  fromAt,
  untilAt,
  isFrozen = false,
}: {
  by: string
  note: string
  fromAt?: string | undefined
  untilAt: string | null
  isFrozen?: boolean
}): ReactNode {
  const { held } = words
  return (
    <p className={styles['held']}>
      <span>
        {isFrozen ? held.frozenBy(printable(by)) : held.pausedBy(printable(by))}
        {fromAt === undefined ? null : (
          <>
            {' '}
            {held.since} <Time at={fromAt} />
          </>
        )}
      </span>
      <span>
        {untilAt === null ? (
          held.noEnd
        ) : (
          <>
            {held.until} <Time at={untilAt} />
          </>
        )}
      </span>
      {note === '' ? <span>{held.noReason}</span> : <q>{printable(note)}</q>}
    </p>
  )
}

/** Why nothing of it runs now: a pause of its own, or a freeze of everything. */
export function Held({ name, state }: { name: string; state: string }): ReactNode {
  const target = { paused: `trigger:${name}`, frozen: 'all' }[state]
  const { data: hold } = useQuery({ ...holdQuery(target ?? ''), enabled: target !== undefined })
  return hold == null ? null : <HeldLine {...hold} isFrozen={state === 'frozen'} />
}
