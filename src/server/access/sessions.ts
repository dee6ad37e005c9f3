/** Sessions: a browser exchanges a token for a cookie, so that no page ever has the token. */
import { randomBytes } from 'node:crypto'
import type { StateChange } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { Caller } from '../../wire/route.js'
import type { Entries } from './known-entries.js'
import { callerOfTokenId, hashOf } from './tokens.js'

/** The name of the cookie. */
export const sessionCookie = 'rota_session'

/** How long a session lasts. */
export const sessionMs = 12 * 3_600_000

/** Opens a session of a token; returns the secret of its cookie, which is not stored. */
export async function openSession(
  store: Store,
  { tokenId, now }: { tokenId: string; now: Instant },
): Promise<string> {
  const secret = randomBytes(32).toString('base64url')
  const value = { tokenId, expiresAt: now + sessionMs }
  await store.changeState({
    changes: [{ ...keyOf(secret), revision: 0, value }, ...(await ended(store, now))],
    now,
  })
  return secret
}

/** Removes ended sessions: only a login adds one, so a login also removes some. */
async function ended(store: Store, now: Instant): Promise<StateChange[]> {
  const entries = await store.stateEntries({ kind: 'session', limit: 100 })
  return entries
    .filter(({ value }) => (value as { expiresAt: Instant }).expiresAt <= now)
    .map(({ kind, name, item }) => ({ kind, name, item, value: undefined }))
}

/** The caller of a session; undefined if it has ended or its token was removed. */
export async function callerOfSession(
  store: Entries,
  { secret, now }: { secret: string; now: Instant },
): Promise<Caller | undefined> {
  if (!/^[\w-]{43}$/.test(secret)) return undefined
  const [entry] = await store.stateEntries({ kind: 'session', names: [hashOf(secret)], limit: 1 })
  if (entry === undefined) return undefined
  const { tokenId, expiresAt } = entry.value as { tokenId: string; expiresAt: Instant }
  return now < expiresAt ? await callerOfTokenId(store, { id: tokenId, now }) : undefined
}

/** Ends a session, if there is one. */
export async function closeSession(
  store: Store,
  { secret, now }: { secret: string; now: Instant },
): Promise<void> {
  await store.changeState({ changes: [{ ...keyOf(secret), value: undefined }], now })
}

/** The secret in the cookie of a request. */
export function sessionSecretOf(headers: Headers): string | undefined {
  const cookies = (headers.get('cookie') ?? '').split(';').map((one) => one.trim().split('='))
  return cookies.find(([name]) => name === sessionCookie)?.[1]
}

/** The header that sets the cookie of a browser, or removes it if there is no secret. */
export function cookieHeader(
  secret: string | undefined,
  { path, isSecure }: { path: string; isSecure: boolean },
): string {
  const age = secret === undefined ? 0 : sessionMs / 1000
  const parts = [
    `${sessionCookie}=${secret ?? ''}`,
    `Path=${path}`,
    `Max-Age=${age}`,
    'HttpOnly',
    'SameSite=Strict',
  ]
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ')
}

function keyOf(secret: string) {
  return { kind: 'session', name: hashOf(secret), item: '' } as const
}
