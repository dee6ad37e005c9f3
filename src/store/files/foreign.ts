/**
 * Changes that people and other programs make to a queue directory. A new file in `pending` becomes a run; a removed
 * file cancels its run. A file in `running` belongs to another program until its lease ends; then its run is pending
 * again. Files of others are never overwritten: a file that blocks the name of a run, or is not named like a run, is
 * reported and left in place. A file that is named like a run but is not one is moved to `failed` unchanged.
 */
import { hostname } from 'node:os'
import { insertRun, makeFinal } from '../memory/run-moves.js'
import type { RunRow } from '../memory/tables.js'
import type { NewRun } from '../../kernel/run/run.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import type { StoreWarning } from '../store-health.js'
import type { Directory } from './layout/directory.js'
import {
  attemptsOf,
  errorNameOf,
  instantOf,
  foreignLeaseMs,
  isQueueName,
  queueFolders,
  readQueueFile,
  runOfForeign,
  writingMs,
} from '../../formats/queue-file.js'
import { extraOf } from './layout/run-file.js'
import type { State } from './state.js'

/** What the directory is compared with, and when. */
interface Look {
  readonly directory: Directory
  readonly state: State
  readonly now: Instant
}

/** A scan that changes what it finds. */
interface Scan extends Look {
  readonly warn: (warning: StoreWarning) => void
}

/** The folders in which a file of another program is unfinished work. */
type OpenFolder = 'pending' | 'running'

/** Imports what others changed in `pending` and `running` since the last scan. */
export function importForeign(scan: Scan): void {
  const { directory, state, now, warn } = scan
  const names = new Set(directory.list('pending'))
  // Sorted by name: runs with the same due instant are then performed in that order.
  const unknown = [...names].filter((name) => !state.pending.has(name)).toSorted()
  for (const name of unknown) importPending(scan, name)
  for (const name of unknownRunning(scan)) reclaimLost(scan, name)
  for (const [name, id] of state.pending) {
    const row = state.tables.runs.get(id)
    if (names.has(name) || row === undefined) continue
    state.dropFile(id)
    const reason = `pending/${name} was removed`
    makeFinal(state.tables, row, { state: 'cancelled', at: now, reason })
    warn({
      message: `${reason}, so its run ${id} was cancelled`,
      todo: `\`rota queue retry ${id}\` brings it back`,
    })
  }
}

/**
 * Moves files of `pending` that are not runs to `failed`, unchanged, each with a file beside it that contains the
 * reason. A file that must not be touched, or whose name is taken there, stays.
 */
export function failMalformed(scan: Scan): void {
  const { directory } = scan
  for (const name of unknownPending(scan)) {
    const classified = classify(scan, 'pending', name)
    if (classified.kind === 'malformed' && !directory.exists(`failed/${name}`))
      failOne(scan, name, classified.fault)
  }
  directory.syncFolders()
}

function failOne({ directory, now, warn }: Scan, name: string, fault: string): void {
  const beside = `failed/${errorNameOf(name)}`
  const file = {
    schema_version: 'v1',
    code: 'job_invalid',
    message: `pending/${name} ${fault}`,
    failed_at: formatInstant(now),
    claimed_by: `${hostname()}:${process.pid}`,
  }
  // The reason first: after a crash in between the file is still in `pending`, and the next scan moves it.
  directory.replace(beside, `${JSON.stringify(file)}\n`)
  directory.move(`pending/${name}`, `failed/${name}`)
  warn({ message: `pending/${name} ${fault}; it was moved to failed/`, todo: `see ${beside}` })
}

/** Warnings about files in `pending` and `running` that are not runs. */
export function foreignWarnings(look: Look): StoreWarning[] {
  const folders = { pending: unknownPending(look), running: unknownRunning(look) }
  return (['pending', 'running'] as const).flatMap((folder) =>
    folders[folder].flatMap((name) => warningOf(`${folder}/${name}`, classify(look, folder, name)) ?? []),
  )
}

function warningOf(path: string, classified: Classified): StoreWarning | undefined {
  if (classified.kind !== 'fault' && classified.kind !== 'malformed') return undefined
  if (classified.kind === 'fault' || !path.startsWith('pending/')) return strayWarning(path, classified.fault)
  const todo = '`rota work` and an engine move it to failed/, with the reason beside it'
  return { message: `${path} ${classified.fault}`, todo }
}

/** The files in `pending` that do not belong to a pending run, by name. */
function unknownPending({ directory, state }: Look): string[] {
  return directory
    .list('pending')
    .filter((name) => !state.pending.has(name))
    .toSorted()
}

/** The files in `running` that do not belong to a running run. */
function unknownRunning({ directory, state }: Look): string[] {
  return directory.list('running').filter((name) => {
    const owner = state.ownerOf(name)
    return owner === undefined || state.tables.runs.get(owner)?.phase !== 'running'
  })
}

function importPending(scan: Scan, name: string): void {
  const classified = importable(scan, `pending/${name}`, classify(scan, 'pending', name))
  if (classified !== undefined) insert(scan, classified, { folder: 'pending', name })
}

/** Reclaims a run whose program has been silent for longer than its lease. */
function reclaimLost(scan: Scan, name: string): void {
  const classified = importable(scan, `running/${name}`, classify(scan, 'running', name))
  if (classified === undefined || classified.heldUntil > scan.now) return
  const row = insert(scan, classified, { folder: 'running', name })
  if (row === undefined) return
  const claimedAt = instantOf(classified.file['started_at']) ?? classified.modifiedAt
  row.attempt = Math.max(1, row.attempt)
  row.crashes = 1
  const { id: run, attempt } = row
  const lost = { startedAt: claimedAt, endedAt: scan.now, end: 'lost', error: undefined } as const
  row.attempts = [{ run, attempt, worker: undefined, claimedAt, ...lost }]
  scan.warn({
    message: `running/${name} was abandoned by another program, so its run ${row.id} was reclaimed`,
    todo: 'find out why that program exited, or have it write a longer lease_until',
  })
}

/** Inserts the run of a file; from then on the file is updated with the run. */
function insert(
  { state, now }: Scan,
  { run, file }: Found,
  place: { readonly folder: OpenFolder; readonly name: string },
): RunRow | undefined {
  state.setFile(run.id, { ...place, extra: extraOf(file) })
  // Inserted as delayed: the next turn decides with its own time whether the run is due.
  insertRun(state.tables, run, run.runAt - 1)
  const row = state.tables.runs.get(run.id)
  if (row === undefined) return undefined
  row.createdAt = instantOf(file['created_at']) ?? now
  // The next attempt takes the next number, also after attempts of other programs.
  row.attempt = attemptsOf(file)
  return row
}

/** A file that describes a run which is not imported yet. */
interface Found {
  readonly kind: 'run'
  readonly run: NewRun
  readonly file: Readonly<Record<string, unknown>>
  readonly modifiedAt: Instant
  /** Until when it belongs to another program, if it is in `running`. */
  readonly heldUntil: Instant
}

/** What a file of another program is: a run, something to leave in place, not a run, or possibly still being written. */
type Classified =
  | Found
  | { readonly kind: 'fault' | 'malformed'; readonly fault: string }
  | { readonly kind: 'unfinished' }

function importable({ warn }: Scan, path: string, classified: Classified): Found | undefined {
  if (classified.kind === 'fault') warn(strayWarning(path, classified.fault))
  return classified.kind === 'run' ? classified : undefined
}

function classify({ directory, state, now }: Look, folder: OpenFolder, name: string): Classified {
  const read = readQueueFile(directory.disk, directory.of(`${folder}/${name}`))
  const fault = (what: string): Classified => ({ kind: 'fault', fault: what })
  if (!isQueueName(name)) return fault('is not named like a run')
  const unlessYoung = (kind: 'fault' | 'malformed', what: string): Classified =>
    now - read.modifiedAt < writingMs ? { kind: 'unfinished' } : { kind, fault: what }
  if (read.kind === 'fault') return unlessYoung(read.isMalformed ? 'malformed' : 'fault', read.fault)
  const run = runOfForeign(read, name)
  if (typeof run === 'string') return unlessYoung('malformed', run)
  const known = state.ownerOf(name) ?? (state.tables.runs.has(run.id) ? run.id : undefined)
  if (known !== undefined) return fault(`is already known as run ${known}`)
  // Moving this file there later would overwrite the other one.
  const other = queueFolders.find((one) => one !== folder && directory.exists(`${one}/${name}`))
  if (other !== undefined) return fault(`also exists in ${other}`)
  const { modifiedAt } = read
  const heldUntil = instantOf(read.file['lease_until']) ?? modifiedAt + foreignLeaseMs
  return { kind: 'run', run, file: read.file, modifiedAt, heldUntil }
}

/** The warning about a file that is not a run and is left in place. */
export function strayWarning(path: string, fault: string): StoreWarning {
  const [, name = ''] = path.split(/\/(.*)/s)
  if (!isQueueName(name))
    return {
      message: `${path} is not named like a run; it is ignored`,
      todo: 'move it out of the queue directory',
    }
  return { message: `${path} ${fault}; left in place`, todo: 'repair it, or move it out of the directory' }
}
