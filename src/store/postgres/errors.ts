import { RotaError, type ErrorCode } from '../../model/errors.js'

/** What the driver throws for an answer of the server: the SQLSTATE beside the message. */
interface DatabaseError extends Error {
  readonly code: string
}

/** Whether the same transaction may succeed if it is made again: somebody else was in its way. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01', '55P03'].includes(codeOf(error))
}

/** Whether the connection is gone, or the server cannot serve it now; what was under way may have been committed or not. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof RotaError) return false
  const code = codeOf(error)
  return awayCodes.has(code) || code.startsWith('08') || (code === '' && awayMessages.test(error.message))
}

/** The catalogue's error for what the server or the driver reports; anything else stays what it is. */
export function toRotaError(error: unknown, url: string): unknown {
  if (error instanceof RotaError || !(error instanceof Error)) return error
  const known = isAway(error)
    ? ({ code: 'STORE_AWAY', sentence: 'the database cannot be reached' } as const)
    : (byCode[codeOf(error)] ?? byClass[codeOf(error).slice(0, 2)])
  if (known === undefined) return error
  return new RotaError(known.code, `${url}: ${known.sentence} (Postgres: ${error.message})`, { cause: error })
}

/** Whether the error means that the store must not be used again. */
export function isBroken(error: unknown): boolean {
  return error instanceof RotaError && (error.code === 'STORE_IO' || error.code === 'STORE_CORRUPT')
}

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

type Known = { readonly code: ErrorCode; readonly sentence: string }

const byCode: Readonly<Record<string, Known | undefined>> = {
  '40001': { code: 'STORE_BUSY', sentence: 'other processes were in the way for too long' },
  '40P01': { code: 'STORE_BUSY', sentence: 'other processes were in the way for too long' },
  '55P03': { code: 'STORE_BUSY', sentence: 'another process holds the store' },
  '3D000': { code: 'STORE_NOT_FOUND', sentence: 'there is no such database' },
  '3F000': { code: 'STORE_NOT_FOUND', sentence: 'there is no such schema' },
  '42P01': { code: 'STORE_CORRUPT', sentence: 'the schema is not a Rota store' },
  '53100': { code: 'STORE_FULL', sentence: 'the disk of the database is full; nothing was changed' },
  '58030': { code: 'STORE_IO', sentence: 'the disk of the database failed to read or write' },
  XX001: { code: 'STORE_CORRUPT', sentence: 'the database reports damage' },
  XX002: { code: 'STORE_CORRUPT', sentence: 'the database reports damage' },
  '42501': { code: 'STORE_URL', sentence: 'this role may not do what the store needs' },
}

const byClass: Readonly<Record<string, Known | undefined>> = {
  '28': { code: 'STORE_URL', sentence: 'the database refuses this user or password' },
}
