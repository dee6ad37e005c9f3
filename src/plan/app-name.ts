import { basename, dirname, join } from 'node:path'
import { readUserFileSync } from '../input/user-file.js'

const MAX_PACKAGE_BYTES = 1_048_576

/** The name of the package that a directory belongs to, else the directory's; written as a name may be written. */
export function appNameOf(directory: string): string {
  const name = packageName(directory) ?? basename(directory)
  const plain = name.replace(/[^A-Za-z0-9._:@/-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return plain === '' ? 'app' : plain.slice(0, 128)
}

/** The nearest name upwards: a package file without one only says how to read the modules beside it. */
function packageName(directory: string): string | undefined {
  const above = dirname(directory)
  return nameIn(directory) ?? (above === directory ? undefined : packageName(above))
}

function nameIn(directory: string): string | undefined {
  const found = readUserFileSync(join(directory, 'package.json'), MAX_PACKAGE_BYTES)
  if (found.kind !== 'read') return undefined
  try {
    const { name } = JSON.parse(found.bytes.toString('utf8')) as { name?: unknown }
    return typeof name === 'string' && name !== '' ? name : undefined
  } catch {
    // A package file that is missing or broken is npm's to complain about.
    return undefined
  }
}
