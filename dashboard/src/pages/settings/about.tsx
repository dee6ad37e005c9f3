import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Finding, Session } from '../../../../src/client/operations.js'
import { api, problemOf } from '../../data/api.js'
import { formatRough } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import { sessionQuery } from '../../data/session.js'
import type { Mark } from '../../design/marks.js'
import { Button } from '../../parts/button.js'
import { FactList } from '../../parts/facts.js'
import { StateMark } from '../../parts/state-mark.js'
import { ErrorState, Skeleton } from '../../parts/states.js'
import { useToast } from '../../parts/toast.js'
import { WithCode } from '../../parts/text/with-code.js'
import { words } from '../../words/settings.js'
import styles from './page.module.css'

const looks: Readonly<Record<Finding['level'], Mark>> = { ok: 'done', warn: 'missed', error: 'failed' }

/** What this server is: versions, store and health as `rota doctor` says them, and where its API is. */
export function About(): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['doctor'],
    queryFn: ({ signal }) => api('GET /doctor', { signal }),
    meta: { isFixed: true },
    gcTime: 0,
  })
  const { data: session } = useQuery(sessionQuery)
  const { data: retention } = useQuery({
    queryKey: ['retention'],
    queryFn: ({ signal }) => api('GET /retention', { signal }),
    meta: { isFixed: true },
  })
  return (
    <div className={styles['columns']}>
      <section>
        <h3>{words.about.health}</h3>
        {data === undefined ? (
          error === null ? (
            <Skeleton />
          ) : (
            <ErrorState error={error} onRetry={() => void refetch()} />
          )
        ) : (
          <ul className={styles['findings']}>
            {data.items.map(({ check, level, message, todo }) => (
              <li key={`${check} ${message}`}>
                <StateMark mark={looks[level]} label={check} /> {printable(message)}
                {todo === null ? null : (
                  <div className="soft">
                    <WithCode text={printable(todo)} />
                  </div>
                )}
              </li>
            ))}
          </ul>
        )}
      </section>
      <section>
        <h3>{words.about.server}</h3>
        <FactList
          facts={[
            [words.about.you, session === undefined ? null : <You session={session} />],
            [words.about.mode, session?.readOnly === true ? words.about.readOnly : words.about.readWrite],
            [words.about.api, <a href="./api/v1/openapi.json">{words.about.openApi}</a>],
            [words.about.metrics, <a href="./metrics">{words.about.prometheus}</a>],
            [words.about.doctor, <code>rota doctor</code>],
          ]}
        />
      </section>
      {retention === undefined ? null : (
        <section>
          <h3>{words.about.kept}</h3>
          <FactList
            facts={retention.items.map(({ what, keptMs, most, about }) => [
              words.about.keptOf[what],
              `${formatRough(keptMs)}${most === null ? '' : words.about.most(most)}: ${about}`,
            ])}
          />
          <p className={`soft ${styles['after']}`}>{words.about.keptTeach}</p>
        </section>
      )}
    </div>
  )
}

/** Who reads, and how to leave. Who is on the same machine without a token, or came in through another program, has no session. */
function You({ session: { actor, role, signedIn } }: { session: Session }): ReactNode {
  const client = useQueryClient()
  const toast = useToast()
  const leave = async (): Promise<void> => {
    await api('DELETE /session')
    await client.resetQueries()
  }
  return (
    <>
      {printable(actor)}, {role}{' '}
      {signedIn ? (
        <Button onClick={() => void leave().catch((error: unknown) => toast({ text: problemOf(error) }))}>
          {words.about.signOut}
        </Button>
      ) : null}
    </>
  )
}
