import { randomUUID } from 'node:crypto'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Clock } from '../../time/clock.js'
import type { Directory } from './layout/directory.js'
import { codeOf } from './disk.js'
import { toRotaError } from './errors.js'
import { DirectoryLock } from './lock.js'

/** The version of the file layout that this release writes. */
export const schemaVersion = 3

/** The content of `meta.json`. */
export interface Meta {
  readonly schema_version: number
  readonly compatible_from: number
  readonly store: string
}

/** Creates the store if the directory is new, and refuses a directory that is something else. */
export async function prepareDirectory(options: {
  directory: Directory
  clock: Clock
  url: string
  create: boolean
}): Promise<{ lock: DirectoryLock; meta: Meta }> {
  const { directory, clock, url, create } = options
  const { refusal } = directory
  if (refusal !== undefined) throw new RotaError('STORE_URL', `${url}: ${refusal}`)
  const isStore = directory.exists('meta.json')
  if (!isStore && !create)
    throw new RotaError('STORE_NOT_FOUND', `${url}: there is no store in ${directory.path}`)
  try {
    // A store of an older layout has fewer folders.
    if (!isStore || !directory.exists('beats')) directory.make()
    for (const name of ['lock.db', 'waitTimer.db'])
      makeLockFile({ disk: directory.disk, of: directory.of(name) })
  } catch (cause) {
    throw new RotaError('STORE_URL', `${url}: ${directory.path} cannot be created`, { cause })
  }
  const [path, waitingPath] = [directory.of('lock.db'), directory.of('waitTimer.db')]
  const lock = new DirectoryLock({ path, waitingPath, clock, url })
  try {
    const meta = await lock.hold(() => currentMeta(directory, url))
    assertCompatible(meta, url)
    return { lock, meta }
  } catch (error) {
    lock.close()
    throw toRotaError(error, url)
  }
}

/** Must not be opened once it exists: closing it would free a lock that this process holds. */
function makeLockFile({ disk, of }: { disk: Directory['disk']; of: string }): void {
  if (disk.lstat(of) !== undefined) return
  try {
    disk.close(disk.open(of, 'wx'))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

function readMeta(directory: Directory, url: string): Meta | undefined {
  const text = directory.text('meta.json')
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Meta
  } catch (cause) {
    throw new RotaError('STORE_CORRUPT', `${url}: meta.json is not JSON; nothing was changed`, { cause })
  }
}

function currentMeta(directory: Directory, url: string): Meta {
  const meta = readMeta(directory, url)
  if (meta === undefined) {
    directory.make()
    return writeMeta(directory, randomUUID())
  }
  return meta.schema_version < schemaVersion ? writeMeta(directory, meta.store) : meta
}

/** Older releases do not know what the end of a run changes and would skip it, so they are refused from now on. */
function writeMeta(directory: Directory, store: string): Meta {
  const meta = { schema_version: schemaVersion, compatible_from: 2, store }
  directory.replace('meta.json', `${JSON.stringify(meta, undefined, 2)}\n`)
  directory.syncFolders()
  return meta
}

function assertCompatible(meta: Meta, url: string): void {
  if (meta.compatible_from <= schemaVersion) return
  throw new RotaError(
    'STORE_VERSION',
    `${url}: the store was made by a newer Rota (it needs layout ${meta.compatible_from}, this one knows ${schemaVersion}); update Rota`,
  )
}
