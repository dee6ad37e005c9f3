import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, extname, join, resolve } from 'node:path'
import { RotaError } from '../../kernel/definition/errors.js'

/** The file names of a config, in the order of the search. */
export const configNames: readonly string[] = ['ts', 'js', 'mjs', 'yaml', 'yml', 'json'].map(
  (extension) => `rota.config.${extension}`,
)

/** The config of a directory, if it has one. */
export function configIn(directory: string): string | undefined {
  return configNames.map((name) => join(directory, name)).find((path) => existsSync(path))
}

/**
 * The config of a directory, or of the nearest one above it; the search ends at the home directory or at the root. One
 * above that belongs to another user is refused: in a directory such as /tmp anybody may put code there.
 */
export function findConfig(directory: string): string | undefined {
  const start = resolve(directory)
  const home = resolve(homedir())
  for (let at = start; ; at = dirname(at)) {
    const found = configIn(at)
    if (found !== undefined) {
      if (at !== start) refuseForeign(found)
      return found
    }
    if (at === home || at === dirname(at)) return undefined
  }
}

function refuseForeign(path: string): void {
  const own = process.getuid?.()
  const { uid } = statSync(path)
  // Windows has no user ids.
  if (own === undefined || uid === own || uid === 0) return
  const message = `${path} belongs to another user and is not used; accept it with --config, or name a store with --store`
  throw new RotaError('CONFIG_INVALID', message)
}

/** Returns a path if it can be that of a config; does not read its content. */
export function checkConfigPath(path: string): string {
  if (!existsSync(path)) throw new RotaError('CONFIG_NOT_FOUND', `there is no config file ${path}`)
  if (extensions.includes(extname(path))) return path
  throw new RotaError(
    'CONFIG_INVALID',
    `${path} is not a config file (allowed: a file that ends with ${extensions.join(', ')})`,
  )
}

const extensions = configNames.map((name) => extname(name))
