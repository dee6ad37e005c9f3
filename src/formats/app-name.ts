import { basename, dirname, join } from 'node:path'
import { readUserFileSync } from './user-file.js'

const MAX_PACKAGE_BYTES = 1_048_576

/** A package, by its `package.json`. */
export interface Package {
  readonly name: string
  readonly directory: string
}

/** The name of the package of a directory, otherwise of the directory, converted to a valid name. */
export function appNameOf(directory: string): string {
  return plainName(packageOf(directory)?.name ?? basename(directory))
}

/** Converts a text to a valid name of an app. */
export function plainName(text: string): string {
  const plain = text.replace(/[^A-Za-z0-9._:@/-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return plain === '' ? 'app' : plain.slice(0, 128)
}

/** The nearest package upwards that has a name: a package file without one only sets the type of modules. */
export function packageOf(directory: string): Package | undefined {
  const name = nameIn(directory)
  if (name !== undefined) return { name, directory }
  const above = dirname(directory)
  return above === directory ? undefined : packageOf(above)
}

function nameIn(directory: string): string | undefined {
  const found = readUserFileSync(join(directory, 'package.json'), MAX_PACKAGE_BYTES)
  if (found.kind !== 'read') return undefined
  try {
    const { name } = JSON.parse(found.bytes.toString('utf8')) as { name?: unknown }
    return typeof name === 'string' && name !== '' ? name : undefined
  } catch {
    // npm reports a missing or broken package file.
    return undefined
  }
}
