import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { Token } from '../../../../src/client/operations.js'
import { api, wholeList } from '../../data/api.js'
import { printable } from '../../data/printable.js'
import { sessionQuery, useMay } from '../../data/session.js'
import { Button } from '../../parts/button.js'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/settings.js'
import styles from './page.module.css'
import { CreateTokenDialog, RevokeTokenDialog, SecretDialog, type MadeToken } from './token-dialogs.js'

/** The tokens of the server: who may use it from elsewhere. */
export function Tokens(): ReactNode {
  const { data: session } = useQuery(sessionQuery)
  const { may, why } = useMay('admin')
  const isHere = session !== undefined && !session.mounted
  const mayRead = isHere && session.role === 'admin'
  const { data, error, refetch } = useQuery({
    queryKey: ['tokens'],
    queryFn: ({ signal }) => wholeList((query) => api('GET /tokens', { query, signal })),
    enabled: mayRead,
    meta: { isFixed: true },
  })
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<MadeToken>()
  if (session === undefined) return <Skeleton />
  if (session.mounted) return <EmptyState title={words.tokens.mounted} />
  if (!mayRead) return <EmptyState title={words.tokens.adminOnly}>{why}</EmptyState>
  return (
    <>
      <div className={styles['tools']}>
        <p className="soft">{words.tokens.about}</p>
        <Button tone="main" why={may ? undefined : why} onClick={() => setMaking(true)}>
          {words.tokens.make}
        </Button>
      </div>
      {data === undefined ? (
        error === null ? (
          <Skeleton />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : data.items.length === 0 ? (
        <EmptyState title={words.tokens.none} command="rota token create ana --role operate">
          {words.tokens.teach}
        </EmptyState>
      ) : (
        <Table label={words.tabs.tokens} columns={columns} rows={data.items} rowKey={({ id }) => id} />
      )}
      {isMaking ? <CreateTokenDialog onMade={setMade} onClose={() => setMaking(false)} /> : null}
      {made === undefined || isMaking ? null : (
        <SecretDialog made={made} onClose={() => setMade(undefined)} />
      )}
    </>
  )
}

const columns: readonly Column<Token>[] = [
  { key: 'name', head: words.tokens.name, grows: true, cell: ({ name }) => printable(name) },
  { key: 'role', head: words.tokens.role, cell: ({ role }) => role },
  { key: 'id', head: words.tokens.id, isExtra: true, cell: ({ id }) => <code>{id}</code> },
  {
    key: 'created',
    head: words.tokens.created,
    isExtra: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    key: 'expires',
    head: words.tokens.expires,
    cell: ({ expiresAt }) =>
      expiresAt === null ? <span className="soft">{words.tokens.never}</span> : <Time at={expiresAt} />,
  },
  { key: 'revoke', head: '', align: 'end', cell: (token) => <Revoke token={token} /> },
]

function Revoke({ token }: { token: Token }): ReactNode {
  const { why } = useMay('admin')
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button tone="danger" why={why} onClick={() => setAsking(true)}>
        {words.tokens.revoke}
      </Button>
      {isAsking ? <RevokeTokenDialog token={token} onClose={() => setAsking(false)} /> : null}
    </>
  )
}
