import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ErrorCode, RotaError } from '../kernel/definition/errors.js'
import { refusedKind } from './user-file.js'

/** A file that must exist: where it was named, and the error code if it is missing. */
export interface NamedFile {
  /** The option or argument, such as `--plan`. */
  readonly holder: string
  readonly path: string
  readonly code: ErrorCode
}

/** The absolute path of a named file; a missing file is refused before a store is created. */
export function namedFile(directory: string, { holder, path, code }: NamedFile): string {
  const whole = resolve(directory, path)
  const why = refusedKind(whole) ?? (existsSync(whole) ? undefined : 'there is no such file')
  if (why === undefined) return whole
  throw new RotaError(code, `${holder}: ${whole} cannot be read: ${why}`)
}
