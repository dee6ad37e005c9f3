import { makeFinal, insertRun } from '../memory/run-moves.js'
import type { Instant } from '../../time/instant.js'
import type { Directory } from './directory.js'
import { readQueueFile, runOfForeign } from './queue-file.js'
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
  for (const [name, id] of [...look.state.pending]) {
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

function takeFile({ directory, state, now, report }: Look, name: string): void {
  const path = `pending/${name}`
  const read = readQueueFile(directory, path)
  const isYoung = now - read.modifiedAt < writingMs
  const run = read.kind === 'file' ? runOfForeign(read.file, name) : read.fault
  if (typeof run === 'string') {
    if (!isYoung) report(`${path} ${run}; it is left there`)
    return
  }
  const known = state.ownerOf(name) ?? (state.tables.runs.has(run.id) ? run.id : undefined)
  if (known !== undefined) {
    report(`${path} is already known as run ${known}; it is left there`)
    return
  }
  state.keep(run.id, { folder: 'pending', name, extra: read.kind === 'file' ? extraOf(read.file) : {} })
  insertRun(state.tables, run, now)
}
