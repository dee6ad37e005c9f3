import { readdirSync, readFileSync, statSync, type Dirent } from 'node:fs'
import { join, resolve } from 'node:path'
import { isMap } from '../model/read-value.js'

/** A file of a queue directory that is no run. */
export interface InvalidFile {
  /** From the queue directory. */
  readonly path: string
  readonly fault: string
}

const folders = ['pending', 'running', 'done', 'failed']
const largest = 1024 * 1024

/** The files of a queue directory that cannot be read as runs: what people see with `ls` and the store leaves alone. */
export function invalidFiles(path: string, directory: string): readonly InvalidFile[] {
  return folders.flatMap((folder) =>
    entriesOf(join(resolve(directory, path), folder)).flatMap((entry) => {
      const fault = faultOf(join(resolve(directory, path), folder, entry.name), entry)
      return fault === undefined ? [] : [{ path: `${folder}/${entry.name}`, fault }]
    }),
  )
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const namePattern = /^(\d{8}T\d{6}Z)_(.+)\.json$/
const required = ['schema_version', 'job_id', 'scheduled_for', 'run_id']

function faultOf(path: string, entry: Dirent): string | undefined {
  if (!entry.isFile()) return 'it is not a file'
  if (!namePattern.test(entry.name)) return 'its name is not <YYYYMMDDTHHMMSSZ>_<job_id>.json'
  try {
    if (statSync(path).size > largest) return `it is larger than ${largest / 1024} KiB`
    const file: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (!isMap(file)) return 'it is not a JSON object'
    const missing = required.filter((key) => typeof file[key] !== 'string')
    return missing.length === 0 ? undefined : `it lacks ${missing.join(', ')}`
  } catch (error) {
    // It may have moved on to another state between the two looks.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message
  }
}
