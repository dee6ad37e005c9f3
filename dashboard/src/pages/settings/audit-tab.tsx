import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../../data/api.js'
import { useParams } from '../../data/location.js'
import { sessionQuery } from '../../data/session.js'
import { AuditTable } from '../../parts/audit/audit-table.js'
import { Button } from '../../parts/button.js'
import { TextField } from '../../parts/forms/fields.js'
import { EmptyState, ErrorState, LoadingBar, NothingMatches, Skeleton } from '../../parts/states.js'
import { words } from '../../words/settings.js'
import styles from './page.module.css'

const filters = ['actor', 'action', 'target'] as const

/** Who changed what, newest first, by actor, action and target. */
export function AuditTab(): ReactNode {
  const { data: session } = useQuery(sessionQuery)
  const [params, change] = useParams()
  const query = Object.fromEntries(
    filters.flatMap((name) => {
      const value = params.get(name)
      return value === null || value === '' ? [] : [[name, value]]
    }),
  )
  const isAdmin = session?.role === 'admin'
  const { data, error, isFetching, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['audit', query],
    queryFn: ({ signal, pageParam }) =>
      api('GET /audit', {
        query: { ...query, limit: 50, ...(pageParam === '' ? {} : { after: pageParam }) },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    maxPages: 20,
    enabled: isAdmin,
  })
  if (session !== undefined && !isAdmin) return <EmptyState title={words.audit.adminOnly} />
  const entries = data?.pages.flatMap(({ items }) => items)
  const isFiltered = Object.keys(query).length > 0
  return (
    <>
      <div className={styles['tools']}>
        <div className={styles['filters']}>
          {filters.map((name) => (
            <TextField
              key={`${name} ${params.get(name) ?? ''}`}
              label={words.audit[name]}
              placeholder={words.audit.any}
              defaultValue={params.get(name) ?? ''}
              maxLength={256}
              onBlur={({ target }) => change({ [name]: target.value.trim() || null }, { replace: true })}
              onKeyDown={({ key, currentTarget }) => {
                if (key === 'Enter') change({ [name]: currentTarget.value.trim() || null }, { replace: true })
              }}
            />
          ))}
        </div>
      </div>
      <LoadingBar isLoading={isFetching && entries !== undefined} />
      {entries === undefined ? (
        error === null ? (
          <Skeleton rows={6} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : entries.length === 0 ? (
        isFiltered ? (
          <NothingMatches onClear={() => change({ actor: null, action: null, target: null })} />
        ) : (
          <EmptyState
            title={words.audit.none}
            command={words.audit.command}
            afterwards={words.audit.afterwards}
          >
            {words.audit.teach}
          </EmptyState>
        )
      ) : (
        <AuditTable entries={entries} />
      )}
      {hasNextPage ? (
        <div className={styles['more']}>
          <Button tone="quiet" onClick={() => void fetchNextPage()}>
            {words.audit.older}
          </Button>
        </div>
      ) : null}
    </>
  )
}
