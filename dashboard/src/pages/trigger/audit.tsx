import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../../data/api.js'
import { AuditTable } from '../../parts/audit/audit-table.js'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.js'
import { words } from '../../words/trigger.js'

/** Who changed the trigger, why, and how it was before. */
export function TriggerAudit({ name }: { name: string }): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['trigger', name, 'audit'],
    queryFn: ({ signal }) =>
      api('GET /triggers/{name}/history', { path: { name }, query: { limit: 100 }, signal }),
    meta: { topics: ['triggers', 'holds'] },
  })
  if (data === undefined) {
    return error === null ? <Skeleton /> : <ErrorState error={error} onRetry={() => void refetch()} />
  }
  if (data.items.length === 0) return <EmptyState title={words.noChanges} />
  return <AuditTable entries={data.items} withTarget={false} />
}
