import { isAbsolute, resolve } from 'node:path'
import { RotaError } from '../kernel/definition/errors.js'
import { quotedText } from '../text/error-text.js'

/** The default store. */
export const defaultStore = 'sqlite:data/rota.db'

/** Whether other hosts may use the same store. */
export function isOnManyHosts(url: string): boolean {
  return /^postgres(?:ql)?:/.test(url)
}

/** The address with its path made absolute, so that another thread or directory opens the same store. */
export function absoluteUrl(url: string, directory: string): string {
  const [scheme, rest] = splitUrl(url)
  return scheme === 'sqlite' || scheme === 'files' ? `${scheme}:${pathOf(rest, directory)}` : url
}

/** Returns an address if it can be that of a store; throws before the store is needed. */
export function checkStoreUrl(url: string): string {
  const [scheme, rest] = splitUrl(url)
  if (!['memory', 'sqlite', 'files', 'postgres', 'postgresql'].includes(scheme)) throw notAStore(url)
  if (scheme === 'sqlite' || scheme === 'files') pathOf(rest, '/')
  return url
}

/** The scheme of an address and the rest. */
export function splitUrl(url: string): [string, string] {
  const colon = url.indexOf(':')
  if (colon === -1) throw notAStore(url)
  return [url.slice(0, colon), url.slice(colon + 1)]
}

/** The absolute path of a store. */
export function pathOf(path: string, directory: string): string {
  if (path === '')
    throw new RotaError('STORE_URL', 'a store needs a path, as in sqlite:data/rota.db or files:data')
  if (path.includes('\0')) throw new RotaError('STORE_URL', 'the path of a store contains a NUL character')
  return isAbsolute(path) ? path : resolve(directory, path)
}

/** The error for an invalid address of a store. */
export function notAStore(url: string): RotaError {
  const shown = quotedText(url.replace(/\/\/.*@/s, '//…@'))
  return new RotaError(
    'STORE_URL',
    `${shown} is not the address of a store (allowed: sqlite:<path>, files:<directory>, postgres://… and memory:)`,
  )
}
