import { RotaError } from '../../kernel/definition/errors.js'
import { codeOf } from './disk.js'

/** System error codes that mean that the disk is full. */
const fullCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])

/** Converts a system error to a catalogue error; returns any other error unchanged. */
export function toRotaError(error: unknown, url: string): unknown {
  const code = codeOf(error)
  if (error instanceof RotaError || code === undefined || !(error instanceof Error) || !('syscall' in error))
    return error
  if (fullCodes.has(code))
    return new RotaError('STORE_FULL', `${url}: the disk is full; nothing was changed (${error.message})`, {
      cause: error,
    })
  const message = `${url}: the disk failed to read or write, so the store was closed (${error.message})`
  return new RotaError('STORE_IO', message, { cause: error })
}

/** Whether the error means that the disk is full, which is temporary. */
export function isFull(error: unknown): boolean {
  return error instanceof RotaError && error.code === 'STORE_FULL'
}
