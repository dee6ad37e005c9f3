import { relative, resolve, sep } from 'node:path'
import { fingerprintOf } from '../../model/identity.js'

/** `plan:` and the path from a directory, written with slashes on every system. */
export function planSourceName(path: string, directory: string): string {
  return `plan:${relative(directory, resolve(directory, path)).split(sep).join('/')}`
}

/** The trigger whose cursor says how far a plan has been passed; a path may have what a name may not. */
export function passName(source: string): string {
  return /^[\w.:@/-]{1,100}$/.test(source) ? `pass:${source}` : `pass:${fingerprintOf(source)}`
}
