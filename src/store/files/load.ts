import { RotaError } from '../../kernel/definition/errors.js'
import type { EndEffects } from '../../kernel/run/end-effect.js'
import type { Phase } from '../../kernel/run/fact.js'
import { beatName } from './beats.js'
import type { Directory } from './layout/directory.js'
import type { Journal } from './journal.js'
import {
  errorNameOf,
  isErrorName,
  readQueueFile,
  runOfForeign,
  type QueueFolder,
} from '../../formats/queue-file.js'
import { strayWarning } from './foreign.js'
import type { StoreWarning } from '../store-health.js'
import type { AuditLine } from './layout/audit-lines.js'
import { auditFile, lineFiles, type Change, type HistoryLine, type RunPlace } from './layout/record.js'
import type { DefinitionLine, TriggerFile, WorkerFile } from './layout/row-files.js'
import { folderOf, fromRunFile, type RunFile } from './layout/run-file.js'
import { State } from './state.js'

/** Where a store is read from, and where faults are reported. */
export interface LoadContext {
  readonly directory: Directory
  readonly journal: Journal
  readonly url: string
  readonly id: string
  readonly endEffects: EndEffects | undefined
  readonly report: (fault: string) => void
  /** Receives warnings, which are not damage. */
  readonly warn: (warning: StoreWarning) => void
}

/** Reads the whole store, under the lock and with nothing left to apply. */
export function loadState(context: LoadContext): State {
  const state = new State(context.id, context.endEffects)
  const { directory } = context
  const lines = readLines<DefinitionLine>(context, 'definitions.jsonl')
  state.applyChange({ kind: 'definitions', lines })
  for (const file of readFolder<WorkerFile>(context, 'workers')) state.applyChange({ kind: 'worker', file })
  for (const file of readFolder<TriggerFile>(context, 'triggers'))
    state.applyChange({ kind: 'trigger', file })
  for (const [kind, name] of Object.entries(lineFiles)) {
    for (const line of readLines<unknown>(context, name)) state.applyChange({ kind, line } as Change)
  }
  for (const entry of readLines<AuditLine>(context, auditFile)) state.applyChange({ kind: 'audit', entry })
  const runs = [...loadHistory(context), ...loadQueue(context, 'pending'), ...loadQueue(context, 'running')]
  // In the order in which they were inserted, so that concurrency slots are taken as before.
  for (const { file, place } of runs.toSorted((a, b) => a.file.rota.seq - b.file.rota.seq))
    state.applyRun(file, place)
  state.applyCounters(context.journal.counters)
  for (const name of directory.list('tmp')) directory.remove(`tmp/${name}`)
  removeOldBeats(directory, state)
  return state
}

/** Removes the renewals of workers that are gone, including partly written ones. */
function removeOldBeats(directory: Directory, { tables }: State): void {
  const live = [...tables.workers.values()].filter(({ isGone }) => !isGone).map(({ id }) => beatName(id))
  for (const name of directory.list('beats')) {
    if (!live.some((one) => `beats/${name}`.startsWith(one))) directory.remove(`beats/${name}`)
  }
}

interface Loaded {
  readonly file: RunFile
  readonly place: RunPlace
}

/** The history is one file: reading a hundred thousand small ones at each start would take minutes. */
function loadHistory(context: LoadContext): Loaded[] {
  const { directory } = context
  const found = new Map<string, Loaded>()
  const names = new Map<string, QueueFolder>()
  for (const folder of ['done', 'failed'] as const) {
    for (const name of directory.list(folder)) names.set(name, folder)
  }
  for (const line of readLines<HistoryLine>(context, 'history.jsonl')) {
    if ('run' in line) found.set(line.run.rota.id, { file: line.run, place: line })
    else found.delete(line.gone)
  }
  for (const { place, file } of found.values()) {
    if (!names.delete(place.name)) missing(context, file.rota.id, place)
  }
  for (const [name, folder] of names) {
    // Files that were quarantined because they are not runs, and the files with the reasons.
    if (isErrorName(name) || names.has(errorNameOf(name))) continue
    const loaded = loadRun(context, { folder, name })
    if (loaded !== undefined && !found.has(loaded.file.rota.id)) found.set(loaded.file.rota.id, loaded)
  }
  return [...found.values()]
}

/** People may empty these folders: the history is a separate file. */
function missing({ warn }: LoadContext, run: string, { folder, name }: RunPlace): void {
  warn({
    message: `${folder}/${name} is missing; its run ${run} is still known from history.jsonl`,
    todo: 'nothing, if somebody removed it; `rota queue purge` removes old runs from the history as well',
  })
}

/** Runs that this store wrote; files of others are imported or reported later. */
function loadQueue(context: LoadContext, folder: 'pending' | 'running'): Loaded[] {
  return context.directory.list(folder).flatMap((name) => loadRun(context, { folder, name }) ?? [])
}

function loadRun(context: LoadContext, place: RunPlace): Loaded | undefined {
  const path = `${place.folder}/${place.name}`
  const { directory } = context
  const read = readQueueFile(directory.disk, directory.of(path))
  if (read.kind === 'file' && isOwn(read.file)) {
    if (!isSound(read.file)) {
      context.report(`${path} is damaged: its content is not a run; it was left in place`)
      return undefined
    }
    if (folderOf(read.file.rota.phase) === place.folder) return { file: read.file, place }
    const own = folderOf(read.file.rota.phase)
    context.warn({
      message: `${path} was moved by hand: its run is ${read.file.rota.phase}; it was left in place`,
      todo: `move it back to ${own}/`,
    })
    return undefined
  }
  // Files of other programs in `pending` and `running` are scanned by transactions.
  if (place.folder === 'pending' || place.folder === 'running') return undefined
  const fault = read.kind === 'fault' ? read.fault : runOfForeign(read, place.name)
  if (typeof fault === 'string') context.warn(strayWarning(path, fault))
  return undefined
}

function isOwn(file: Readonly<Record<string, unknown>>): file is RunFile {
  const rota = file['rota']
  return typeof rota === 'object' && rota !== null && 'id' in rota && 'seq' in rota && 'phase' in rota
}

const phases: ReadonlySet<string> = new Set<Phase>([
  'delayed',
  'blocked',
  'ready',
  'running',
  'done',
  'failed',
  'cancelled',
])

function isSound(file: RunFile): boolean {
  try {
    return phases.has(fromRunFile(file).phase)
  } catch {
    return false
  }
}

function readFolder<T>(context: LoadContext, folder: 'triggers' | 'workers'): T[] {
  return context.directory.list(folder).map((name) => {
    const path = `${folder}/${name}`
    const file = parse(context.directory.text(path) ?? '')
    if (file === undefined) throw damage(context, `${path} is not JSON`)
    return file as T
  })
}

/** The lines of a file. A torn last line is quarantined; damage before it is an error, and nothing is written. */
function readLines<T>(context: LoadContext, name: string): T[] {
  const text = context.directory.text(name) ?? ''
  const lines: T[] = []
  for (let start = 0, line = 1; start < text.length; line++) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    const value = found === -1 ? undefined : parse(text.slice(start, end))
    if (value === undefined) {
      if (end < text.length - 1) throw damage(context, `${name}, line ${line}, is not JSON`)
      quarantineTornLine(context, { name, start, text })
      break
    }
    lines.push(value as T)
    start = end + 1
  }
  return lines
}

function quarantineTornLine(context: LoadContext, torn: { name: string; start: number; text: string }): void {
  const { directory, journal, report } = context
  const copy = `quarantine/${torn.name}.${journal.seq}`
  directory.replace(copy, torn.text.slice(torn.start))
  directory.cut(torn.name, Buffer.byteLength(torn.text.slice(0, torn.start)))
  directory.syncFolders()
  report(`${torn.name} ended in half a line, which was moved to ${copy}`)
}

function damage({ url }: LoadContext, what: string): RotaError {
  return new RotaError('STORE_CORRUPT', `${url}: ${what}; nothing was changed`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
