import { RotaError, type ErrorCode } from '../../../kernel/definition/errors.js'

/** What the driver throws for an answer of the server: the SQLSTATE beside the message. The system's errors name a call. */
interface DatabaseError extends Error {
  readonly code: string
  readonly syscall?: string
}

/** Whether the same transaction may succeed if it is made again: somebody else was in its way, or it took too long. */
export function isConflict(error: unknown): boolean {
  return isInTheWay(error) || isCancelled(error)
}

/** Whether the server ended the statement, as it does with one that takes longer than `statement_timeout`. */
export function isCancelled(error: unknown): boolean {
  return codeOf(error) === '57014'
}

/** Whether other transactions were in the way of this one: a conflict, a deadlock, or a lock that was not to be had in time. */
export function isInTheWay(error: unknown): boolean {
  return ['40001', '40P01', '55P03'].includes(codeOf(error))
}

/** Whether the connection is gone, or the server cannot serve it now; what was under way may have been committed or not. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof RotaError) return false
  if (isOfFile(error)) return false
  const code = codeOf(error)
  return awayCodes.has(code) || code.startsWith('08') || (code === '' && awayMessages.test(error.message))
}

/** Whether the server takes no writes, now: nothing was written. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === '25006'
}

/** Whether the role may not do it. */
export function isForbidden(error: unknown): error is Error {
  return codeOf(error) === '42501'
}

/** Whether nobody has answered: the connection may be cut without either side knowing. */
export function isSilent(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === '' && silentMessages.test(error.message)
}

/** Whether a transaction was asked for whose number the server has not given out yet. */
export function isInFuture(error: unknown): boolean {
  return codeOf(error) === '22023'
}

/** The catalogue's error for what the server or the driver reports; anything else stays what it is. */
export function toRotaError(error: unknown, url: string): unknown {
  if (error instanceof RotaError || !(error instanceof Error)) return error
  const known = knownOf(error)
  if (known === undefined) return error
  // An attempt at several addresses of a host says nothing by itself.
  const said = error.message === '' ? codeOf(error) : inWords(error)
  return new RotaError(known.code, `${url}: ${known.sentence} (Postgres: ${said})`, { cause: error })
}

/** What the driver itself says of a connection speaks of its own parts. */
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

// The operator ends sessions with a restart, the server those that stall; the others are the system's own.
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
  sentence: 'statements do not stay prepared behind this pooler; take `prepare=on` out of the address',
}

const byCode: Readonly<Record<string, Known | undefined>> = {
  '40001': { code: 'STORE_BUSY', sentence: 'other processes were in the way for too long' },
  '40P01': { code: 'STORE_BUSY', sentence: 'other processes were in the way for too long' },
  '55P03': { code: 'STORE_BUSY', sentence: 'another process holds the store' },
  '57014': {
    code: 'STORE_BUSY',
    sentence:
      'the server cancelled a statement and nothing was changed; is statement_timeout too short for this role?',
  },
  '25006': {
    code: 'STORE_AWAY',
    sentence: 'this server only lets read, as a standby does; name the primary',
  },
  '53300': {
    code: 'STORE_AWAY',
    sentence: 'the server has no connection left; lower `connections` or raise its max_connections',
  },
  '3D000': {
    code: 'STORE_URL',
    sentence: 'there is no such database; make it with `create database`, or name another',
  },
  '28000': {
    code: 'STORE_URL',
    sentence:
      'the server lets nobody in like this; its pg_hba.conf decides by user, database, host and TLS (`sslmode`)',
  },
  '42939': {
    code: 'STORE_URL',
    sentence: 'Postgres keeps names that begin with pg_ for itself; name another schema',
  },
  '26000': notPrepared,
  '42P05': notPrepared,
  ERR_TLS_CERT_ALTNAME_INVALID: {
    code: 'STORE_URL',
    sentence: 'the certificate of the server is for another host; use a name that stands in it',
  },
  CERT_HAS_EXPIRED: { code: 'STORE_URL', sentence: 'the certificate of the server has expired' },
  '3F000': { code: 'STORE_NOT_FOUND', sentence: 'there is no such schema' },
  '42P01': { code: 'STORE_CORRUPT', sentence: 'the schema is not a Rota store' },
  '53100': { code: 'STORE_FULL', sentence: 'the disk of the database is full; nothing was changed' },
  '58030': { code: 'STORE_IO', sentence: 'the disk of the database failed to read or write' },
  XX001: { code: 'STORE_CORRUPT', sentence: 'the database reports damage' },
  XX002: { code: 'STORE_CORRUPT', sentence: 'the database reports damage' },
  '42501': { code: 'STORE_URL', sentence: 'this role may not do what the store needs' },
}

// The driver's own errors, again.
const byMessage: readonly (readonly [RegExp, Known])[] = [
  [
    /does not support SSL/,
    { code: 'STORE_URL', sentence: 'the server speaks no TLS; leave `sslmode` out, or set ssl = on there' },
  ],
  [
    /client password must be/,
    { code: 'STORE_URL', sentence: 'the server asks for a password, and the address has none' },
  ],
]

const notTrusted: Known = {
  code: 'STORE_URL',
  sentence:
    'nothing here vouches for the certificate of the server; name the authority that signed it with `sslrootcert=<file>`',
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
