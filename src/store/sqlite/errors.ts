import { RotaError, type ErrorCode } from '../../kernel/definition/errors.js'

/** An error of the driver, with the extended result code of SQLite. */
interface SqliteError extends Error {
  readonly errcode: number
}

/** Whether another connection holds the requested lock. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && primaryCode(error) === BUSY
}

/** Converts an error of SQLite to one of the catalogue; returns any other error unchanged. */
export function toRotaError(error: unknown, url: string): unknown {
  if (!isSqliteError(error)) return error
  const known = byPrimaryCode[primaryCode(error)]
  if (known === undefined) return error
  return new RotaError(known.code, `${url}: ${known.sentence} (SQLite: ${error.message})`, { cause: error })
}

/** Whether it is an error of SQLite. */
export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

/** The low byte names the kind of failure, the rest where it happened. */
function primaryCode(error: SqliteError): number {
  return error.errcode & 0xff
}

const BUSY = 5

const byPrimaryCode: Readonly<Record<number, { code: ErrorCode; sentence: string } | undefined>> = {
  5: { code: 'STORE_BUSY', sentence: 'another process holds the store' },
  8: { code: 'STORE_URL', sentence: 'the file or its directory cannot be written' },
  10: { code: 'STORE_IO', sentence: 'the disk failed to read or write, so the store was closed' },
  11: {
    code: 'STORE_CORRUPT',
    sentence: 'the file is damaged; nothing was changed, `rota doctor` examines it',
  },
  13: { code: 'STORE_FULL', sentence: 'the disk is full; nothing was changed' },
  14: { code: 'STORE_URL', sentence: 'the file cannot be opened' },
  26: {
    code: 'STORE_CORRUPT',
    sentence: 'the file is not a SQLite database; use another file or move this one away',
  },
}
