/** Tokens identify programs. Only the hash of a token is stored. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { AskedAudit } from '../../engine/audit-change.js'
import type { DryRun } from '../../kernel/definition/dry-run.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { isName } from '../../kernel/definition/read-value.js'
import type { StateEntry } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { Role } from '../../wire/role.js'
import type { Caller } from '../../wire/route.js'
import type { Entries } from './known-entries.js'

/** The public part of a token. */
export interface TokenInfo {
  readonly id: string
  /** The name under which its changes are recorded. */
  readonly name: string
  readonly role: Role
  readonly createdAt: Instant
  readonly expiresAt: Instant | undefined
}

/** The stored form of a token. */
interface StoredToken {
  readonly name: string
  readonly role: Role
  readonly hash: string
  readonly createdAt: Instant
  readonly expiresAt?: Instant
}

/** Whom the audit names where somebody on this machine had no token. */
export const localActor = 'local'

/** Who has not signed in. */
export const unknownActor = 'nobody'

/** Whether a token may have a name: one of those above could not be told from them. */
export function isTokenName(name: string): boolean {
  return isName(name) && name !== localActor && name !== unknownActor
}

/** 256 bits, which cannot be guessed. */
const secretBytes = 32

/** The options of a new token. */
interface NewToken extends Pick<TokenInfo, 'name' | 'role' | 'expiresAt'> {
  readonly id?: string
  readonly now: Instant
}

/** Creates a token. Only this call returns its text. */
export async function createToken(
  store: Store,
  request: NewToken,
): Promise<TokenInfo & { readonly token: string }> {
  const { id = newTokenId(), name, role, expiresAt, now } = request
  const secret = randomBytes(secretBytes).toString('base64url')
  const token = `rota_${id}_${secret}`
  const value = {
    name,
    role,
    hash: hashOf(token),
    createdAt: now,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  }
  await store.changeState({ changes: [{ ...keyOf(id), revision: 0, value }], now })
  return { id, name, role, createdAt: now, expiresAt, token }
}

/** The answer of a dry run: a token that cannot be used. */
export function plannedToken({
  id = newTokenId(),
  now,
  ...rest
}: NewToken): TokenInfo & { token: undefined } {
  return { id, ...rest, createdAt: now, token: undefined }
}

/** The id of a new token. */
export function newTokenId(): string {
  return randomBytes(6).toString('hex')
}

/** The audit of a change of a token; its hash is masked. */
export function tokenAudit(action: 'token.create' | 'token.revoke', id: string): AskedAudit {
  return { action, subjects: [{ kind: 'state', key: keyOf(id) }] }
}

/** All tokens, also those that have expired. */
export async function listTokens(store: Store): Promise<readonly TokenInfo[]> {
  const entries = await store.stateEntries({ kind: 'token', limit: mostTokens })
  return entries.map(infoOf).toSorted((one, other) => one.createdAt - other.createdAt)
}

const mostTokens = 10_000

/** Ends a token and every session that was opened with it; a dry run only returns the token. */
export async function revokeToken(
  store: Store,
  { id, now, dryRun }: { id: string; now: Instant } & DryRun,
): Promise<TokenInfo> {
  const entry = await tokenEntry(store, id)
  if (entry === undefined)
    throw new RotaError('TOKEN_UNKNOWN', `there is no token with the id ${JSON.stringify(id)}`)
  if (dryRun !== true) await store.changeState({ changes: [{ ...keyOf(id), value: undefined }], now })
  return infoOf(entry)
}

/** The caller of a token; undefined if it is unknown, revoked or expired. */
export async function callerOfToken(
  store: Entries,
  { token, now }: { token: string; now: Instant },
): Promise<(Caller & { readonly tokenId: string }) | undefined> {
  const [, id] = /^rota_([0-9a-f]{12})_[\w-]{43}$/.exec(token) ?? []
  const entry = id === undefined ? undefined : await tokenEntry(store, id)
  if (entry === undefined || !isSame(storedOf(entry).hash, hashOf(token))) return undefined
  return callerOf(entry, now)
}

/** The caller of a token, by its id; undefined if it was removed or has expired. */
export async function callerOfTokenId(
  store: Entries,
  { id, now }: { id: string; now: Instant },
): Promise<Caller | undefined> {
  const entry = await tokenEntry(store, id)
  return entry === undefined ? undefined : callerOf(entry, now)
}

function callerOf(entry: StateEntry, now: Instant): (Caller & { readonly tokenId: string }) | undefined {
  const { name, role, expiresAt = Infinity } = storedOf(entry)
  return now < expiresAt ? { actor: name, role, tokenId: entry.name } : undefined
}

async function tokenEntry(store: Entries, id: string): Promise<StateEntry | undefined> {
  const [entry] = await store.stateEntries({ kind: 'token', names: [id], limit: 1 })
  return entry
}

function keyOf(id: string) {
  return { kind: 'token', name: id, item: '' } as const
}

function infoOf(entry: StateEntry): TokenInfo {
  const { name, role, createdAt, expiresAt } = storedOf(entry)
  return { id: entry.name, name, role, createdAt, expiresAt }
}

function storedOf({ value }: StateEntry): StoredToken {
  return value as unknown as StoredToken
}

/** The stored hash of a secret. One round is enough for a random secret. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** Compares two hashes in constant time. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'))
}
