import { beatName } from '../beats.js'
import type { Directory } from './directory.js'
import {
  auditFile,
  fileKey,
  isHistory,
  lineFiles,
  logName,
  toLines,
  type Change,
  type JournalRecord,
} from './record.js'

/**
 * Updates the files from a record. Every step may be repeated: a file that has already moved or a line that already
 * exists is left as it is. Returns the changes that were not made because somebody removed a file. If a record is
 * applied again, a file that is in neither place is written: a power loss can undo half of a move.
 */
export function applyRecord(
  directory: Directory,
  record: JournalRecord,
  { isAgain }: { isAgain: boolean },
): string[] {
  const faults = record.changes.flatMap((change) => applyChange(directory, change, isAgain) ?? [])
  for (const [name, lines] of linesOf(record.changes)) {
    directory.append(name, record.ends[name] ?? directory.sizeOf(name), toLines(lines))
  }
  directory.syncFolders()
  return faults
}

/** The files to which a record appends lines, with those lines. */
export function linesOf(changes: readonly Change[]): Map<string, unknown[]> {
  const added = new Map<string, unknown[]>()
  const add = (name: string, ...lines: readonly unknown[]): void => {
    const known = added.get(name)
    if (known === undefined) added.set(name, [...lines])
    else for (const line of lines) known.push(line)
  }
  const gone = new Set(changes.flatMap((change) => (change.kind === 'pruned' ? [change.id] : [])))
  for (const change of changes) {
    if (change.kind === 'audit') add(auditFile, change.entry)
    else if ('line' in change) add(lineFiles[change.kind], change.line)
    else if (change.kind === 'pruned') add('history.jsonl', { gone: change.id })
    else if (change.kind === 'log' && !gone.has(change.run)) add(logName(change.run), ...change.lines)
    else if (change.kind !== 'run') continue
    else if (isHistory(change.to.folder)) add('history.jsonl', { ...change.to, run: change.file })
    else if (change.from !== undefined && isHistory(change.from.folder))
      add('history.jsonl', { gone: change.file.rota.id })
  }
  return added
}

/** Makes the change of one file; lines are added later, all lines of a file at once. */
function applyChange(directory: Directory, change: Change, isAgain: boolean): string | undefined {
  switch (change.kind) {
    case 'run':
      return applyRun(directory, change, isAgain)
    case 'pruned':
      directory.remove(`${change.from.folder}/${change.from.name}`)
      directory.remove(logName(change.id))
      break
    case 'trigger':
      directory.replace(`triggers/${fileKey(change.file.name)}.json`, toText(change.file))
      break
    case 'worker':
      directory.replace(`workers/${fileKey(change.file.id)}.json`, toText(change.file))
      if (change.file.gone) directory.remove(beatName(change.file.id))
      break
    case 'worker-forgotten':
      directory.remove(`workers/${fileKey(change.id)}.json`)
      break
    case 'definitions':
      directory.replace('definitions.jsonl', toLines(change.lines))
      break
    case 'audit':
    case 'log':
    case 'hold':
    case 'range':
    case 'note':
    case 'seen':
  }
  return undefined
}

/** Moves the file of a run before rewriting it, so that it is always in exactly one folder. */
function applyRun(
  directory: Directory,
  change: Extract<Change, { kind: 'run' }>,
  isAgain: boolean,
): string | undefined {
  const { from, to, file } = change
  const target = `${to.folder}/${to.name}`
  if (from !== undefined && from.folder !== to.folder) {
    const source = `${from.folder}/${from.name}`
    if (directory.exists(source)) directory.move(source, target)
    else if (!isAgain && !directory.exists(target))
      return `${source} was removed while its run ${file.rota.id} moved to ${to.folder}; it was not written again`
  }
  directory.replace(target, `${JSON.stringify(file)}\n`)
  return undefined
}

function toText(file: unknown): string {
  return `${JSON.stringify(file, undefined, 2)}\n`
}
