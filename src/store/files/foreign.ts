import { makeFinal, insertRun } from '../memory/run-moves.js'
import type { NewRun } from '../../model/run.js'
import type { Instant } from '../../time/instant.js'
import type { Directory } from './directory.js'
import { instantOf, readQueueFile, runOfForeign } from './queue-file.js'
import { extraOf } from './run-file.js'
import type { State } from './state.js'

/** Younger files that cannot be read are left alone: somebody may be writing them. */
const writingMs = 60_000

/** What is looked at, the wall time, and where faults are told. */
interface Look {
  readonly directory: Directory
  readonly state: State
  readonly now: Instant
  readonly report: (fault: string) => void
}

/** Takes in what people and other programs did to `pending`: a new file becomes a run, a file that is gone cancels its run. */
export function takeForeign(look: Look): void {
  const names = new Set(look.directory.list('pending'))
  for (const name of names) if (!look.state.pending.has(name)) takeFile(look, name)
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

/** What is wrong with files in `pending` that are no runs. */
export function foreignFaults(look: Omit<Look, 'report'>): string[] {
  const names = look.directory.list('pending').filter((name) => !look.state.pending.has(name))
  return names.flatMap((name) => {
    const judged = judge(look, name)
    return judged.kind === 'fault' ? [judged.fault] : []
  })
}

function takeFile(look: Look, name: string): void {
  const { state, now, report } = look
  const judged = judge(look, name)
  if (judged.kind === 'fault') report(judged.fault)
  if (judged.kind !== 'run') return
  const { run, file } = judged
  state.keep(run.id, { folder: 'pending', name, extra: extraOf(file) })
  // It waits in any case: whether its instant has come is judged by the next turn, with the time that turn is given.
  insertRun(state.tables, run, run.runAt - 1)
  const row = state.tables.runs.get(run.id)
  if (row !== undefined) row.createdAt = instantOf(file['created_at']) ?? now
}

/** What a file of another program is: a run, a fault, or something that may still be being written. */
type Judged =
  | { readonly kind: 'run'; readonly run: NewRun; readonly file: Readonly<Record<string, unknown>> }
  | { readonly kind: 'fault'; readonly fault: string }
  | { readonly kind: 'unfinished' }

function judge({ directory, state, now }: Omit<Look, 'report'>, name: string): Judged {
  const path = `pending/${name}`
  const read = readQueueFile(directory, path)
  const faultUnlessYoung = (what: string): Judged => {
    if (now - read.modifiedAt < writingMs) return { kind: 'unfinished' }
    return { kind: 'fault', fault: `${path} ${what}; it is left there` }
  }
  if (read.kind === 'fault') return faultUnlessYoung(read.fault)
  const run = runOfForeign(read.file, name)
  if (typeof run === 'string') return faultUnlessYoung(run)
  const known = state.ownerOf(name) ?? (state.tables.runs.has(run.id) ? run.id : undefined)
  if (known === undefined) return { kind: 'run', run, file: read.file }
  return { kind: 'fault', fault: `${path} is already known as run ${known}; it is left there` }
}
