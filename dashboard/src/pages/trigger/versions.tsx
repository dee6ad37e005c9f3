import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Trigger, TriggerVersion } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { ErrorState, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/trigger.js'
import styles from './page.module.css'

interface Row extends TriggerVersion {
  readonly changes: readonly string[]
}

/** The definitions that the trigger has had, newest first, and what changed with each. */
export function Versions({ trigger: { name, revision } }: { trigger: Trigger }): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['trigger', name, 'versions', revision],
    queryFn: ({ signal }) => api('GET /triggers/{name}/versions', { path: { name }, signal }),
    meta: { isFixed: true },
  })
  if (data === undefined) {
    return error === null ? <Skeleton /> : <ErrorState error={error} onRetry={() => void refetch()} />
  }
  const rows = data.items
    .map((version, index): Row => ({ ...version, changes: changesFrom(data.items[index - 1], version) }))
    .toReversed()
  return (
    <Table
      label={words.tabs.versions(rows.length)}
      columns={columns}
      rows={rows}
      rowKey={(row) => String(row.version)}
    />
  )
}

const columns: readonly Column<Row>[] = [
  { key: 'version', head: words.versions.version, cell: ({ version }) => version },
  { key: 'from', head: words.versions.from, cell: ({ validFromAt }) => <Time at={validFromAt} /> },
  {
    key: 'until',
    head: words.versions.until,
    isExtra: true,
    cell: ({ validUntil }) =>
      validUntil === null ? <span className="soft">{words.versions.now}</span> : <Time at={validUntil} />,
  },
  {
    key: 'changes',
    head: words.versions.changes,
    grows: true,
    cell: ({ changes }) => (
      <span className={styles['changes']}>
        {changes.map((text) => (
          <code key={text}>{text}</code>
        ))}
      </span>
    ),
  },
  { key: 'tzdata', head: words.versions.tzdata, isExtra: true, align: 'end', cell: ({ tzdata }) => tzdata },
]

/** What differs between two definitions, field by field. */
function changesFrom(before: TriggerVersion | undefined, after: TriggerVersion): readonly string[] {
  if (before === undefined) return [words.versions.first]
  const [old, now] = [flat(before.trigger), flat(after.trigger)]
  const changes = [...new Set([...old.keys(), ...now.keys()])]
    .filter((path) => old.get(path) !== now.get(path))
    .map((path) => words.versions.change(path, old.get(path), now.get(path)))
  return changes.length === 0 ? [words.versions.rules] : changes
}

/** The fields of a definition as paths and texts. */
function flat(value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new Map([[path, JSON.stringify(value) ?? '']])
  }
  return new Map(
    Object.entries(value).flatMap(([key, inner]) => [...flat(inner, path === '' ? key : `${path}.${key}`)]),
  )
}
