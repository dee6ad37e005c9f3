import { RotaError, type ErrorCode } from '../../../kernel/definition/errors.js'

/** An error of the driver: from the server with its SQLSTATE, from the system with the name of a call. */
interface DatabaseError extends Error {
  readonly code: string
  readonly syscall?: string
  /** The function of the server that reported it. */
  readonly routine?: string
}

/** A prepared statement is missing on its connection, or outdated: a new connection can perform it. */
export class LostStatement extends Error {}

/** Whether the result of a prepared statement has other columns since a newer version has migrated the schema. */
export function isOutdatedStatement(error: unknown): boolean {
  return codeOf(error) === '0A000' && (error as DatabaseError).routine === 'RevalidateCachedQuery'
}

/** Whether a prepared statement does not exist, or exists although this process did not prepare it. */
export function isUnknownStatement(error: unknown): boolean {
  return ['26000', '42P05'].includes(codeOf(error))
}

/** Whether a repetition of the transaction may succeed: others blocked it, or it took too long. */
export function isConflict(error: unknown): boolean {
  return isInTheWay(error) || isCancelled(error)
}

/** Whether the server has no room for more locks. The exclusive lock of the schema is a single one. */
export function isOutOfLocks(error: unknown): boolean {
  return codeOf(error) === '53200'
}

/** Whether the server cancelled the statement, for example after `statement_timeout`. */
export function isCancelled(error: unknown): boolean {
  return codeOf(error) === '57014'
}

/** Whether other transactions blocked this one: a conflict, a deadlock, or a lock that was not free in time. */
export function isInTheWay(error: unknown): boolean {
  return ['40001', '40P01', '55P03'].includes(codeOf(error))
}

/** Whether the connection is lost, or the server cannot serve it now; an open transaction may be committed or not. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof RotaError) return false
  if (error instanceof LostStatement) return true
  if (isOfFile(error)) return false
  const code = codeOf(error)
  return awayCodes.has(code) || code.startsWith('08') || (code === '' && awayMessages.test(error.message))
}

/** Whether the server is read-only now: nothing was written. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === '25006'
}

/** Whether the role has no right to do it. */
export function isForbidden(error: unknown): error is Error {
  return codeOf(error) === '42501'
}

/** Whether there was no answer: the connection may be broken without either side noticing. */
export function isSilent(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === '' && silentMessages.test(error.message)
}

/** Whether the status of a transaction was requested whose number the server has not assigned yet. */
export function isInFuture(error: unknown): boolean {
  return codeOf(error) === '22023'
}

/** Converts an error of the server or the driver to one of the catalogue; returns any other error unchanged. */
export function toRotaError(error: unknown, url: string): unknown {
  if (error instanceof RotaError || !(error instanceof Error)) return error
  const known = knownOf(error)
  if (known === undefined) return error
  // The error of an attempt at several addresses of a host has no message.
  const said = error.message === '' ? codeOf(error) : inWords(error)
  return new RotaError(known.code, `${url}: ${known.sentence} (Postgres: ${said})`, { cause: error })
}

/** Replaces the driver's own messages about connections, which mention its internals. */
function inWords(error: Error): string {
  if (isSilent(error)) return 'no answer in time'
  return codeOf(error) === '' && awayMessages.test(error.message) ? 'the connection was lost' : error.message
}

function knownOf(error: Error): Known | undefined {
  const code = codeOf(error)
  if (isOfFile(error)) return { code: 'STORE_URL', sentence: 'a file that the address names cannot be read' }
  const exact = byCode[code] ?? byMessage.find(([pattern]) => code === '' && pattern.test(error.message))?.[1]
  if (exact !== undefined) return exact
  if (isAway(error)) return { code: 'STORE_AWAY', sentence: 'the database cannot be reached' }
  return byClass[code.slice(0, 2)] ?? (certificateCodes.has(code) ? notTrusted : undefined)
}

/** Whether a file could not be read, such as that of a certificate. */
function isOfFile(error: Error): boolean {
  return (error as DatabaseError).syscall === 'open' || codeOf(error) === 'EISDIR'
}

/** Whether the error means that the store must not be used again. */
export function isBroken(error: unknown): boolean {
  return error instanceof RotaError && fatalCodes.has(error.code)
}

const fatalCodes: ReadonlySet<ErrorCode> = new Set(['STORE_IO', 'STORE_CORRUPT', 'STORE_WENT_BACK'])

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? (error as DatabaseError).code : ''
}

// Sessions that an operator or the server ends; the others are codes of the system.
const awayCodes = new Set([
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '25P03',
  '25P04',
  '53300',
  '25006',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

// The driver's own errors have no code.
const awayMessages =
  /Connection terminated|connection error|Client was closed|timeout expired|Query read timeout|not queryable/

const silentMessages = /timeout expired|Query read timeout/

type Known = { readonly code: ErrorCode; readonly sentence: string }

const notPrepared: Known = {
  code: 'STORE_URL',
  sentence: 'this pooler does not support prepared statements; remove `prepare=on` from the address',
}

const byCode: Readonly<Record<string, Known | undefined>> = {
  '40001': { code: 'STORE_BUSY', sentence: 'other processes blocked it for too long' },
  '40P01': { code: 'STORE_BUSY', sentence: 'other processes blocked it for too long' },
  '55P03': { code: 'STORE_BUSY', sentence: 'another process holds the store' },
  '57014': {
    code: 'STORE_BUSY',
    sentence:
      'the server cancelled a statement and nothing was changed; is statement_timeout too short for this role?',
  },
  '25006': {
    code: 'STORE_AWAY',
    sentence: 'this server is read-only, like a standby; use the address of the primary',
  },
  '53300': {
    code: 'STORE_AWAY',
    sentence: 'the server has no free connection; lower `connections` or raise its max_connections',
  },
  '3D000': {
    code: 'STORE_URL',
    sentence: 'the database does not exist; create it with `create database`, or use another',
  },
  '28000': {
    code: 'STORE_URL',
    sentence:
      'the server refuses this connection; its pg_hba.conf decides by user, database, host and TLS (`sslmode`)',
  },
  '42939': {
    code: 'STORE_URL',
    sentence: 'Postgres reserves names that begin with pg_; use another schema',
  },
  '26000': notPrepared,
  '42P05': notPrepared,
  ERR_TLS_CERT_ALTNAME_INVALID: {
    code: 'STORE_URL',
    sentence: 'the certificate of the server is for another host; use a host name that it contains',
  },
  CERT_HAS_EXPIRED: { code: 'STORE_URL', sentence: 'the certificate of the server has expired' },
  '3F000': { code: 'STORE_NOT_FOUND', sentence: 'the schema does not exist' },
  '42P01': { code: 'STORE_CORRUPT', sentence: 'the schema is not a Rota store' },
  '53100': { code: 'STORE_FULL', sentence: 'the disk of the database is full; nothing was changed' },
  '58030': { code: 'STORE_IO', sentence: 'the disk of the database failed to read or write' },
  XX001: { code: 'STORE_CORRUPT', sentence: 'the database reports damage' },
  XX002: { code: 'STORE_CORRUPT', sentence: 'the database reports damage' },
  '42501': { code: 'STORE_URL', sentence: 'this role lacks a right that the store needs' },
}

// The driver's own errors, again.
const byMessage: readonly (readonly [RegExp, Known])[] = [
  [
    /does not support SSL/,
    {
      code: 'STORE_URL',
      sentence: 'the server does not support TLS; remove `sslmode`, or set ssl = on there',
    },
  ],
  [
    /client password must be/,
    { code: 'STORE_URL', sentence: 'the server requires a password, and the address has none' },
  ],
]

const notTrusted: Known = {
  code: 'STORE_URL',
  sentence:
    'the certificate of the server is not trusted; name the authority that signed it with `sslrootcert=<file>`',
}

const certificateCodes = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
])

const byClass: Readonly<Record<string, Known | undefined>> = {
  '28': { code: 'STORE_URL', sentence: 'the database refuses this user or password' },
  '53': { code: 'STORE_BUSY', sentence: 'the server lacks memory or another resource; nothing was changed' },
}
