/**
 * What people and other programs do to a queue directory. A new file in `pending` becomes a run, a file that is gone
 * cancels its run. A file in `running` is somebody's work until its lease ends; then whoever held it is gone, and its run
 * waits for the next attempt. Nothing of others is overwritten: what is no run, or is in the way of one, is reported
 * and stays where it is.
 */
import { insertRun, makeFinal } from '../memory/run-moves.js'
import type { RunRow } from '../memory/tables.js'
import type { NewRun } from '../../model/run.js'
import type { Instant } from '../../time/instant.js'
import { queueFolders, type Directory } from './directory.js'
import { attemptsOf, instantOf, readQueueFile, runOfForeign } from './queue-file.js'
import { extraOf } from './run-file.js'
import type { State } from './state.js'

/** Younger files that cannot be read are left alone: somebody may be writing them. */
const writingMs = 60_000

/** How long another program may be silent about what it holds, where its file does not say. */
const leaseMs = 30_000

/** What is looked at, the wall time, and where faults are told. */
interface Look {
  readonly directory: Directory
  readonly state: State
  readonly now: Instant
  readonly report: (fault: string) => void
}

/** The directories in which a file of another program is work to be done. */
type OpenFolder = 'pending' | 'running'

/** Takes in what others did to `pending` and `running` since the last look. */
export function takeForeign(look: Look): void {
  const names = new Set(look.directory.list('pending'))
  for (const name of names) if (!look.state.pending.has(name)) takePending(look, name)
  for (const name of unknownRunning(look)) takeBack(look, name)
  for (const [name, id] of look.state.pending) {
    const row = look.state.tables.runs.get(id)
    if (names.has(name) || row === undefined) continue
    look.state.lose(id)
    makeFinal(look.state.tables, row, {
      state: 'cancelled',
      at: look.now,
      reason: `pending/${name} was removed`,
    })
    look.report(`pending/${name} was removed, so its run ${id} was cancelled`)
  }
}

/** What is wrong with files in `pending` and `running` that are no runs. */
export function foreignFaults(look: Omit<Look, 'report'>): string[] {
  const pending = look.directory.list('pending').filter((name) => !look.state.pending.has(name))
  const all = [
    ...pending.map((name) => judge(look, 'pending', name)),
    ...unknownRunning(look).map((name) => judge(look, 'running', name)),
  ]
  return all.flatMap((judged) => (judged.kind === 'fault' ? [judged.fault] : []))
}

/** The files in `running` that are not of a run that runs. */
function unknownRunning({ directory, state }: Omit<Look, 'report'>): string[] {
  return directory.list('running').filter((name) => {
    const owner = state.ownerOf(name)
    return owner === undefined || state.tables.runs.get(owner)?.phase !== 'running'
  })
}

function takePending(look: Look, name: string): void {
  const judged = told(look, judge(look, 'pending', name))
  if (judged !== undefined) insert(look, judged, { folder: 'pending', name })
}

/** Takes a run back whose holder has been silent for too long; before that it is none of ours. */
function takeBack(look: Look, name: string): void {
  const judged = told(look, judge(look, 'running', name))
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
  look.report(`running/${name} was left by another program, so its run ${row.id} was taken back`)
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

/** What a file of another program is: a run, a fault, or something that may still be being written. */
type Judged = Found | { readonly kind: 'fault'; readonly fault: string } | { readonly kind: 'unfinished' }

function told({ report }: Look, judged: Judged): Found | undefined {
  if (judged.kind === 'fault') report(judged.fault)
  return judged.kind === 'run' ? judged : undefined
}

function judge({ directory, state, now }: Omit<Look, 'report'>, folder: OpenFolder, name: string): Judged {
  const path = `${folder}/${name}`
  const read = readQueueFile(directory, path)
  const fault = (what: string): Judged => ({ kind: 'fault', fault: `${path} ${what}; it is left there` })
  const faultUnlessYoung = (what: string): Judged =>
    now - read.modifiedAt < writingMs ? { kind: 'unfinished' } : fault(what)
  if (read.kind === 'fault') return faultUnlessYoung(read.fault)
  const run = runOfForeign(read.file, name)
  if (typeof run === 'string') return faultUnlessYoung(run)
  const known = state.ownerOf(name) ?? (state.tables.runs.has(run.id) ? run.id : undefined)
  if (known !== undefined) return fault(`is already known as run ${known}`)
  // Moving this one there some day would overwrite that one.
  const other = queueFolders.find((one) => one !== folder && directory.exists(`${one}/${name}`))
  if (other !== undefined) return fault(`lies in ${other} as well`)
  const { modifiedAt } = read
  const heldUntil = instantOf(read.file['lease_until']) ?? modifiedAt + leaseMs
  return { kind: 'run', run, file: read.file, modifiedAt, heldUntil }
}
