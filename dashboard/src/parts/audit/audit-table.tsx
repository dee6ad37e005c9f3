import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { AuditEntry } from '../../../../src/client/operations.js'
import { printable } from '../../data/printable.js'
import { triggerHref } from '../../data/triggers.js'
import { words } from '../../words/audit.js'
import { Table, type Column } from '../table.js'
import { Time } from '../time.js'
import styles from './audit-table.module.css'

/** Who changed what, through what, why, and how it was before and after. */
export function AuditTable({
  entries,
  withTarget = true,
}: {
  entries: readonly AuditEntry[]
  /** Whether the target is shown: on the page of the target it says nothing. */
  withTarget?: boolean
}): ReactNode {
  const shown = withTarget ? columns : columns.filter(({ key }) => key !== 'target')
  return <Table label={words.label} columns={shown} rows={entries} rowKey={({ seq }) => String(seq)} />
}

const columns: readonly Column<AuditEntry>[] = [
  { key: 'at', head: words.at, cell: ({ at }) => <Time at={at} /> },
  { key: 'actor', head: words.actor, cell: ({ actor, via }) => <Actor actor={actor} via={via} /> },
  { key: 'action', head: words.action, cell: ({ action }) => <code>{action}</code> },
  { key: 'target', head: words.target, cell: ({ target }) => <Target target={target} /> },
  {
    key: 'reason',
    head: words.reason,
    grows: true,
    isEmpty: ({ reason }) => reason === null,
    cell: ({ reason }) => (reason === null ? null : <q>{printable(reason)}</q>),
  },
  {
    key: 'change',
    head: words.change,
    isExtra: true,
    cell: ({ before, after }) => <Change before={before} after={after} />,
  },
]

function Actor({ actor, via }: Pick<AuditEntry, 'actor' | 'via'>): ReactNode {
  return (
    <>
      {printable(actor)} <span className="soft">{words.via[via]}</span>
    </>
  )
}

function Target({ target }: { target: string }): ReactNode {
  const at = target.indexOf(':')
  const [kind, name] = [target.slice(0, at), target.slice(at + 1)]
  const text = printable(target)
  if (kind === 'trigger') return <Link href={triggerHref(name)}>{text}</Link>
  if (kind === 'run') return <Link href={`/runs/${name}`}>{text}</Link>
  return text
}

/** What differs between two states, on request: most readers look at who and why. */
function Change({ before, after }: Pick<AuditEntry, 'before' | 'after'>): ReactNode {
  if (before === null && after === null) return null
  return (
    <details className={styles['change']}>
      <summary>{words.show}</summary>
      <pre>{printable(`${words.before} ${JSON.stringify(before, undefined, 1)}`)}</pre>
      <pre>{printable(`${words.after} ${JSON.stringify(after, undefined, 1)}`)}</pre>
    </details>
  )
}
