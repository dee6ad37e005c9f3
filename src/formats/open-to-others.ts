import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A path that every user of the machine may write, and how to change that. */
export interface OpenToOthers {
  readonly message: string
  readonly todo: string
}

/** The paths of a file, or of a directory and its content, that every user of this machine may write. */
export function openToOthers(path: string): readonly OpenToOthers[] {
  // The mode does not contain it on Windows.
  if (process.platform === 'win32') return []
  const open = [path, ...namesIn(path).map((name) => join(path, name))].filter((one) =>
    hasBit(one, writableByOthers),
  )
  const folder = dirname(path)
  // With the sticky bit, as in /tmp, only owners may move their own files.
  const isReplaceable = hasBit(folder, writableByOthers) && !hasBit(folder, sticky)
  return [...open, ...(isReplaceable ? [folder] : [])].slice(0, mostNamed).map((one) => ({
    message: `every user of this machine may write ${one}, and can change what runs here`,
    todo: `remove this right: chmod o-w ${one}`,
  }))
}

/** The same for the store at an address, if it is on this machine. */
export function storeOpenToOthers(url: string): readonly OpenToOthers[] {
  const [, path] = /^(?:sqlite|files):(.+)$/s.exec(url) ?? []
  return path === undefined ? [] : openToOthers(path)
}

const writableByOthers = 0o002
const sticky = 0o1000
const mostNamed = 10

function hasBit(path: string, bit: number): boolean {
  try {
    return (statSync(path).mode & bit) !== 0
  } catch {
    // It is missing or cannot be examined; then nothing is reported.
    return false
  }
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
