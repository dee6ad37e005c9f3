import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { ApiError } from '../../../src/client/client.js'
import { api, isSignedOut } from '../data/api.js'
import { LiveProvider } from '../data/live-context.js'
import { sessionQuery } from '../data/session.js'
import { Button } from '../parts/button.js'
import { ErrorState } from '../parts/states.js'
import { WithCode } from '../parts/text/with-code.js'
import { words as common } from '../words/common.js'
import { words } from '../words/shell.js'
import styles from './signed-in.module.css'

/** Shows the dashboard to those the server knows, and a form for a token to the others. */
export function SignedIn({ children }: { children: ReactNode }): ReactNode {
  const { data, error, refetch } = useQuery(sessionQuery)
  if (isSignedOut(error)) return <SignInForm />
  if (data !== undefined) return <LiveProvider>{children}</LiveProvider>
  return error === null ? null : <ErrorState error={error} onRetry={() => void refetch()} />
}

function SignInForm(): ReactNode {
  const client = useQueryClient()
  const [error, setError] = useState<string>()
  const signIn = async (token: FormDataEntryValue | null): Promise<void> => {
    if (typeof token !== 'string') return
    try {
      await api('POST /session', { body: { token: token.trim() } })
      await client.resetQueries()
    } catch (caught) {
      setError(messageOf(caught))
    }
  }
  return (
    <main className={styles['page']}>
      <form
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault()
          void signIn(new FormData(event.currentTarget).get('token'))
        }}
      >
        <h1>
          {common.product}: {words.signIn.title}
        </h1>
        <p className="soft">
          <WithCode text={words.signIn.text} />
        </p>
        <label className={styles['field']}>
          {words.signIn.token}
          <input name="token" type="password" autoComplete="current-password" required maxLength={512} />
        </label>
        {error === undefined ? null : (
          <p className={styles['error']} role="alert">
            {error}
          </p>
        )}
        <Button type="submit" tone="main">
          {words.signIn.button}
        </Button>
      </form>
    </main>
  )
}

function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return common.error.unreachable
  // A handler inside another program has no sessions: that program knows its users.
  return error.status === 404 || error.code === 'ROUTE_UNKNOWN' ? words.signIn.mounted : error.message
}
