import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** Creates one directory at a time: Node's recursive mode never ends if the system refuses a directory, as in /proc. */
export function makeDirectories(path: string): void {
  if (existsSync(path)) return
  makeDirectories(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!existsSync(path)) throw error
  }
}
