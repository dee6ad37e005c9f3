/**
 * What people and other programs do to a queue directory. A new file in `pending` becomes a run, a file that is gone
 * cancels its run. A file in `running` is somebody's work until its lease ends; then whoever held it is gone, and its run
 * waits for the next attempt. Nothing of others is overwritten: what is in the way of a run, or is not named as one, is
 * reported and stays where it is, and what is named as a run and is none is moved to `failed` as it is.
 */
import { hostname } from 'node:os'
import { insertRun, makeFinal } from '../memory/run-moves.js'
import type { RunRow } from '../memory/tables.js'
import type { NewRun } from '../../kernel/run/run.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import type { StoreWarning } from '../store-health.js'
import { queueFolders, type Directory } from './layout/directory.js'
import {
  attemptsOf,
  errorNameOf,
  instantOf,
  isQueueName,
  readQueueFile,
  runOfForeign,
  strayWarning,
} from './layout/queue-file.js'
import { extraOf } from './layout/run-file.js'
import type { State } from './state.js'

/** Younger files that cannot be read are left alone: somebody may be writing them. */
export const writingMs = 60_000

/** How long another program may be silent about what it holds, where its file does not say. */
export const foreignLeaseMs = 30_000

/** What is looked at, the wall time, and who is told of what is found. */
interface Look {
  readonly directory: Directory
  readonly state: State
  readonly now: Instant
  readonly warn: (warning: StoreWarning) => void
}

/** The directories in which a file of another program is work to be done. */
type OpenFolder = 'pending' | 'running'

/** Takes in what others did to `pending` and `running` since the last look. */
export function takeForeign(look: Look): void {
  const names = new Set(look.directory.list('pending'))
  // In the order of their names, which is the order in which runs of one instant are then performed.
  const unknown = [...names].filter((name) => !look.state.pending.has(name)).toSorted()
  for (const name of unknown) takePending(look, name)
  for (const name of unknownRunning(look)) reclaimLost(look, name)
  for (const [name, id] of look.state.pending) {
    const row = look.state.tables.runs.get(id)
    if (names.has(name) || row === undefined) continue
    look.state.lose(id)
    makeFinal(look.state.tables, row, {
      state: 'cancelled',
      at: look.now,
      reason: `pending/${name} was removed`,
    })
    look.warn({
      message: `pending/${name} was removed, so its run ${id} was cancelled`,
      todo: `\`rota queue retry ${id}\` brings it back`,
    })
  }
}

/**
 * Moves files of `pending` that are no runs to `failed`, as they are, each with a file beside it that says why. A file that
 * must not be touched, or whose name is taken there, stays.
 */
export function failMalformed(look: Look): void {
  const { directory, state } = look
  for (const name of directory.list('pending').toSorted()) {
    if (state.pending.has(name)) continue
    const judged = judge(look, 'pending', name)
    if (judged.kind === 'malformed' && !directory.exists(`failed/${name}`)) failOne(look, name, judged.fault)
  }
  directory.syncFolders()
}

function failOne({ directory, now, warn }: Look, name: string, fault: string): void {
  const beside = `failed/${errorNameOf(name)}`
  const file = {
    schema_version: 'v1',
    code: 'job_invalid',
    message: `pending/${name} ${fault}`,
    failed_at: formatInstant(now),
    claimed_by: `${hostname()}:${process.pid}`,
  }
  // First the reason: a crash in between leaves the file where it is, to be moved by whoever looks next.
  directory.replace(beside, `${JSON.stringify(file)}\n`)
  directory.move(`pending/${name}`, `failed/${name}`)
  warn({ message: `pending/${name} ${fault}; it was moved to failed/`, todo: `see ${beside}` })
}

/** Files in `pending` and `running` that are no runs. */
export function foreignWarnings(look: Omit<Look, 'warn'>): StoreWarning[] {
  const pending = look.directory.list('pending').filter((name) => !look.state.pending.has(name))
  const all = [
    ...pending.map((name) => ({ path: `pending/${name}`, judged: judge(look, 'pending', name) })),
    ...unknownRunning(look).map((name) => ({
      path: `running/${name}`,
      judged: judge(look, 'running', name),
    })),
  ]
  return all.flatMap(({ path, judged }) => warningOf(path, judged) ?? [])
}

function warningOf(path: string, judged: Judged): StoreWarning | undefined {
  if (judged.kind === 'malformed' && path.startsWith('pending/')) {
    return {
      message: `${path} ${judged.fault}`,
      todo: '`rota work` and an engine move it to failed/, with the reason beside it',
    }
  }
  return judged.kind === 'fault' || judged.kind === 'malformed' ? strayWarning(path, judged.fault) : undefined
}

/** The files in `running` that are not of a run that runs. */
function unknownRunning({ directory, state }: Omit<Look, 'warn'>): string[] {
  return directory.list('running').filter((name) => {
    const owner = state.ownerOf(name)
    return owner === undefined || state.tables.runs.get(owner)?.phase !== 'running'
  })
}

function takePending(look: Look, name: string): void {
  const judged = told(look, `pending/${name}`, judge(look, 'pending', name))
  if (judged !== undefined) insert(look, judged, { folder: 'pending', name })
}

/** Takes a run back whose holder has been silent for too long; before that it is none of ours. */
function reclaimLost(look: Look, name: string): void {
  const judged = told(look, `running/${name}`, judge(look, 'running', name))
  if (judged === undefined || judged.heldUntil > look.now) return
  const row = insert(look, judged, { folder: 'running', name })
  if (row === undefined) return
  const claimedAt = instantOf(judged.file['started_at']) ?? judged.modifiedAt
  row.attempt = Math.max(1, row.attempt)
  row.crashes = 1
  row.attempts = [
    {
      run: row.id,
      attempt: row.attempt,
      worker: undefined,
      claimedAt,
      startedAt: claimedAt,
      endedAt: look.now,
      end: 'lost',
      error: undefined,
    },
  ]
  look.warn({
    message: `running/${name} was left by another program, so its run ${row.id} was taken back`,
    todo: 'look why that program ended, or have its file say a longer lease_until',
  })
}

/** Records the run of a file; the file then says what the run says. */
function insert(
  { state, now }: Look,
  { run, file }: Found,
  place: { readonly folder: OpenFolder; readonly name: string },
): RunRow | undefined {
  state.keep(run.id, { ...place, extra: extraOf(file) })
  // It waits in any case: whether its instant has come is judged by the next turn, with the time that turn is given.
  insertRun(state.tables, run, run.runAt - 1)
  const row = state.tables.runs.get(run.id)
  if (row === undefined) return undefined
  row.createdAt = instantOf(file['created_at']) ?? now
  // The next attempt takes the next number, whoever made the ones before.
  row.attempt = attemptsOf(file)
  return row
}

/** A file that stands for a run that nobody has taken in. */
interface Found {
  readonly kind: 'run'
  readonly run: NewRun
  readonly file: Readonly<Record<string, unknown>>
  readonly modifiedAt: Instant
  /** Until when it is somebody else's, where it lies in `running`. */
  readonly heldUntil: Instant
}

/** What a file of another program is: a run, something to leave alone, no run at all, or something that may still be being written. */
type Judged =
  | Found
  | { readonly kind: 'fault' | 'malformed'; readonly fault: string }
  | { readonly kind: 'unfinished' }

function told({ warn }: Look, path: string, judged: Judged): Found | undefined {
  if (judged.kind === 'fault') warn(strayWarning(path, judged.fault))
  return judged.kind === 'run' ? judged : undefined
}

function judge({ directory, state, now }: Omit<Look, 'warn'>, folder: OpenFolder, name: string): Judged {
  const read = readQueueFile(directory, `${folder}/${name}`)
  const fault = (what: string): Judged => ({ kind: 'fault', fault: what })
  if (!isQueueName(name)) return fault('is not named as a run is')
  const unlessYoung = (kind: 'fault' | 'malformed', what: string): Judged =>
    now - read.modifiedAt < writingMs ? { kind: 'unfinished' } : { kind, fault: what }
  if (read.kind === 'fault') return unlessYoung(read.isMalformed ? 'malformed' : 'fault', read.fault)
  const run = runOfForeign(read, name)
  if (typeof run === 'string') return unlessYoung('malformed', run)
  const known = state.ownerOf(name) ?? (state.tables.runs.has(run.id) ? run.id : undefined)
  if (known !== undefined) return fault(`is already known as run ${known}`)
  // Moving this one there some day would overwrite that one.
  const other = queueFolders.find((one) => one !== folder && directory.exists(`${one}/${name}`))
  if (other !== undefined) return fault(`lies in ${other} as well`)
  const { modifiedAt } = read
  const heldUntil = instantOf(read.file['lease_until']) ?? modifiedAt + foreignLeaseMs
  return { kind: 'run', run, file: read.file, modifiedAt, heldUntil }
}
