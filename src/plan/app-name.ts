import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** The name of the package in a directory, else the directory's; written as a name may be written. */
export function appNameOf(directory: string): string {
  const name = packageName(directory) ?? basename(directory)
  const plain = name.replace(/[^A-Za-z0-9._:@/-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return plain === '' ? 'app' : plain.slice(0, 128)
}

function packageName(directory: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { name?: unknown }
    return typeof name === 'string' && name !== '' ? name : undefined
  } catch {
    // A package file that is missing or broken is npm's to complain about.
    return undefined
  }
}
