import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  openSync,
  statSync,
  type Stats,
} from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Clock } from '../../time/clock.js'
import { makeDirectories } from '../make-directories.js'
import { Database } from './database.js'
import { isSqliteError, toRotaError } from './errors.js'
import { applicationId, migrations, schemaVersion } from './schema.js'
import { whenFree } from './when-free.js'

/** The options for opening a SQLite store. */
export interface OpenOptions {
  readonly path: string
  readonly url: string
  /** `full` survives a power loss; `normal` may lose the last commits in one, but never a part of a commit. */
  readonly durability: 'full' | 'normal'
  /** Whether a missing file is created. */
  readonly create: boolean
  readonly readOnly: boolean
  readonly clock: Clock
}

/** Older libraries can lose a commit if a checkpoint and a writer run concurrently. */
const oldestSafeVersion = [3, 51, 3] as const

/** Opens the file, creates the store if it is new, and refuses a file that is something else. */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  prepareFile(options)
  let db: Database | undefined
  try {
    if (!options.readOnly && hasLog(options.path)) await whenFree(options, () => lookFirst(options))
    const { readOnly } = options
    const opened = new Database(new DatabaseSync(options.path, { readOnly, timeout: 0 }))
    db = opened
    // Another process may hold the lock, for example while it creates the store.
    await whenFree(options, () => prepareDatabase(opened, options))
    return db
  } catch (error) {
    db?.close()
    throw explained(openingError(error, options.url), options.path)
  }
}

/** The statements of an opening are always the same, so an error of SQLite means that the file is wrong. */
function openingError(error: unknown, url: string): unknown {
  const understood = toRotaError(error, url)
  if (!isSqliteError(understood)) return understood
  const message = `${url}: the file cannot be read as a Rota store (SQLite: ${understood.message})`
  return new RotaError('STORE_CORRUPT', message, { cause: error })
}

/** Creates a file for its owner only. Refuses links, which could lead to another file. */
function prepareFile({ path, url, create, readOnly }: OpenOptions): void {
  // Checked first: a process that creates a store writes the log after the file, so a log without a file is damage.
  const isLogLeft = hasLog(path)
  const found = lookAt(path, url)
  if (found?.isSymbolicLink()) {
    throw new RotaError('STORE_URL', `${url}: ${path} is a symbolic link; name the file itself`)
  }
  if (found !== undefined && !found.isFile()) {
    throw new RotaError('STORE_URL', `${url}: ${path} is not a file`)
  }
  if (found !== undefined && found.size > 0) return
  if (isLogLeft) {
    const problem = found === undefined ? 'missing' : 'empty'
    const todo = `restore ${path} from a backup and remove ${path}-wal, or remove both to start again`
    throw new RotaError('STORE_CORRUPT', `${url}: ${path} is ${problem}, but ${path}-wal is not; ${todo}`)
  }
  if (!create || readOnly) {
    const problem = found === undefined ? `there is no file ${path}` : `${path} is empty`
    throw new RotaError('STORE_NOT_FOUND', `${url}: ${problem}`)
  }
  try {
    makeDirectories(dirname(path))
    makeFile(path)
  } catch (cause) {
    throw new RotaError('STORE_URL', `${url}: ${path} cannot be opened: ${inWords(cause)}`, { cause })
  }
}

/** Whether the log that SQLite keeps next to the file has content. */
function hasLog(path: string): boolean {
  try {
    return statSync(`${path}-wal`).size > 0
  } catch {
    return false
  }
}

/**
 * Checks the file over a read-only connection: one that can write would write the log into a damaged file when it is
 * closed, and a repair needs both unchanged.
 */
function lookFirst({ path, url }: OpenOptions): void {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 0 })
  try {
    assertOurs(new Database(db), url)
  } finally {
    db.close()
  }
}

function lookAt(path: string, url: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (cause) {
    throw new RotaError('STORE_URL', `${url}: ${path} cannot be opened: ${inWords(cause)}`, { cause })
  }
}

/** An existing empty file may be readable by everybody; a store must be private. */
function makeFile(path: string): void {
  const file = openSync(path, constants.O_CREAT | constants.O_RDWR | constants.O_NOFOLLOW, 0o600)
  try {
    fchmodSync(file, 0o600)
  } finally {
    closeSync(file)
  }
}

/** SQLite only reports that it could not open a file; the system knows why. */
function explained(error: unknown, path: string): unknown {
  if (!(error instanceof RotaError) || error.code !== 'STORE_URL') return error
  for (const place of [path, dirname(path)]) {
    try {
      accessSync(place, constants.R_OK | constants.W_OK)
    } catch (cause) {
      return new RotaError(error.code, `${error.message}; ${place}: ${inWords(cause)}`, { cause: error })
    }
  }
  return error
}

/** The reason of a system error, with its code, which people search for. */
function inWords(cause: unknown): string {
  const { code = '', message } = cause as NodeJS.ErrnoException
  const words = causes[code]
  return words === undefined ? message : `${words} (${code})`
}

const causes: Readonly<Record<string, string | undefined>> = {
  EACCES: 'this user may not read or write there',
  EPERM: 'this user may not read or write there',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of its path is not a directory',
  EEXIST: 'a part of its path is not a directory',
  ENOSPC: 'the disk is full',
}

/** Every step may be repeated, by this process or another, so a kill between two of them does no harm. */
function prepareDatabase(db: Database, options: OpenOptions): void {
  assertLibrary(db, options.url)
  assertOurs(db, options.url)
  if (!options.readOnly) {
    db.exec('pragma journal_mode = wal')
    db.exec(`pragma synchronous = ${options.durability}`)
    db.exec('pragma wal_autocheckpoint = 4000')
    db.exec('pragma journal_size_limit = 67108864')
    migrate(db)
  }
  db.exec('pragma cache_size = -16384')
  db.exec('pragma temp_store = memory')
  assertCompatible(db, options.url)
}

function assertLibrary(db: Database, url: string): void {
  const version = db.value('select sqlite_version()') as string
  const parts = version.split('.').map(Number)
  for (const [i, oldest] of oldestSafeVersion.entries()) {
    const part = parts[i] ?? 0
    if (part > oldest) return
    if (part < oldest) {
      const message = `${url}: SQLite ${version} is too old to be safe; ${oldestSafeVersion.join('.')} or newer is needed`
      throw new RotaError('STORE_VERSION', message)
    }
  }
}

/** Called before anything is written: a database of another program stays unchanged. */
function assertOurs(db: Database, url: string): void {
  const id = db.value('pragma application_id')
  if (id === applicationId) return
  const isEmpty = id === 0 && db.value('select 1 from sqlite_schema limit 1') === undefined
  if (isEmpty) return
  throw new RotaError(
    'STORE_CORRUPT',
    `${url}: the file is a SQLite database, but not a Rota store; use another file or move this one away`,
  )
}

/** Takes the missing steps in one transaction. The lock lets one process do it, and the others find it done. */
function migrate(db: Database): void {
  if (versionOf(db) >= schemaVersion) return
  db.run('begin immediate')
  try {
    const from = versionOf(db)
    for (const { version, compatibleFrom, statements } of migrations) {
      if (version <= from) continue
      for (const sql of statements) db.exec(sql)
      db.exec(`insert into meta (id, version, compatible_from) values (1, ${version}, ${compatibleFrom})
        on conflict (id) do update set version = excluded.version, compatible_from = excluded.compatible_from`)
    }
    db.exec(`pragma application_id = ${applicationId}`)
    db.run('commit')
    // Otherwise a store whose log is lost would look like a new file.
    db.exec('pragma wal_checkpoint(truncate)')
  } catch (error) {
    if (db.isInTransaction) db.run('rollback')
    throw error
  }
}

/** The schema version of the file; 0 for a new file. */
function versionOf(db: Database): number {
  if (db.value(`select 1 from sqlite_schema where name = 'meta'`) === undefined) return 0
  return (db.value('select version from meta where id = 1') ?? 0) as number
}

function assertCompatible(db: Database, url: string): void {
  if (versionOf(db) === 0)
    throw new RotaError('STORE_NOT_FOUND', `${url}: the file is empty; nothing was stored yet`)
  const compatibleFrom = db.value('select compatible_from from meta where id = 1') as number
  if (compatibleFrom <= schemaVersion) return
  throw new RotaError(
    'STORE_VERSION',
    `${url}: the store was made by a newer Rota (it needs schema ${compatibleFrom}, this one knows ${schemaVersion}); update Rota`,
  )
}
