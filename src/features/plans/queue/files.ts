import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Json } from '../../../kernel/definition/json.js'
import { isMap } from '../../../kernel/definition/read-value.js'
import {
  errorNameOf,
  foreignLeaseMs,
  instantOf,
  isErrorName,
  isQueueName,
  queueFolders,
  readQueueFile,
  runOfForeign,
  writingMs,
  type FileText,
  type QueueDisk,
  type QueueFolder,
} from '../../../formats/queue-file.js'
import type { Instant } from '../../../time/instant.js'

/** A file of a queue directory. */
export type QueueFile = { readonly kind: 'run'; readonly path: string; readonly run: FiledRun } | NoRun

/** A file that is not a run, and why. */
export interface NoRun {
  /** `failed`: it was moved there; `malformed`: it will be moved there; `stray`: it is ignored. */
  readonly kind: 'invalid' | 'failed' | 'malformed' | 'stray'
  readonly path: string
  readonly fault: string
  /** The id in its name, if it is named like a run. */
  readonly jobId: string
  /** The process that moved it. */
  readonly movedBy?: string | undefined
}

/** A run as its file describes it. */
export interface FiledRun {
  /** Its id, even if it is not imported yet. */
  readonly id: string
  readonly state: QueueFolder
  readonly dueAt: Instant
  readonly runAt: Instant
  readonly jobId: string
  readonly runId: string
  readonly pipelinePath: string
  readonly attempts: number
  /** The number under which the store recorded it; undefined if it is not imported. */
  readonly seq: number | undefined
  /** Until when a file in `running` belongs to another program. */
  readonly heldUntil: Instant
}

/** The place of a queue. */
export interface QueueAt {
  readonly path: string
  readonly directory: string
}

/** The files of a queue directory by state and name, with the faults of those that are not runs. */
export function queueFiles(
  { path, directory }: QueueAt,
  now: Instant,
  states: readonly QueueFolder[] = queueFolders,
): readonly QueueFile[] {
  const queue = resolve(directory, path)
  return states.flatMap((folder) => {
    const names = namesIn(join(queue, folder))
    const all = new Set(names)
    return names.flatMap((name): QueueFile[] => {
      if (folder === 'failed' && isErrorName(name) && all.has(name.replace(/\.error\.json$/, '.json')))
        return []
      const hasReason = folder === 'failed' && all.has(errorNameOf(name))
      return hasReason ? [failedFile(queue, name)] : (readFile(queue, { folder, name, now }) ?? [])
    })
  })
}

/** The runs among the files of a queue directory. */
export function queueRuns(
  queue: QueueAt,
  now: Instant,
  states?: readonly QueueFolder[],
): readonly FiledRun[] {
  return queueFiles(queue, now, states).flatMap((file) => (file.kind === 'run' ? [file.run] : []))
}

/** The names of all files of a queue directory. */
export function queueFileNames(path: string): ReadonlySet<string> {
  return new Set(queueFolders.flatMap((folder) => namesIn(join(path, folder))))
}

/** The payload in a file of a queue directory, in any folder; undefined if it cannot be read. */
export function filedPayload(path: string, name: string): Json | undefined {
  for (const folder of queueFolders) {
    const read = readQueueFile(disk, join(path, folder, name))
    if (read.kind === 'file') return { params: (read.file['params'] ?? {}) as Json }
  }
  return undefined
}

const disk: QueueDisk = {
  read: (path) => readFileSync(path),
  lstat: (path) => lstatSync(path, { throwIfNoEntry: false }),
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** A file that was moved to `failed` because it is not a run. */
function failedFile(queue: string, name: string): QueueFile {
  const beside = readQueueFile(disk, join(queue, 'failed', errorNameOf(name)))
  const { message, claimed_by: movedBy } = beside.kind === 'file' ? beside.file : {}
  return {
    kind: 'failed',
    path: `failed/${name}`,
    fault: typeof message === 'string' ? message : 'it is not a run',
    jobId: jobIdIn(name),
    movedBy: typeof movedBy === 'string' ? movedBy : undefined,
  }
}

interface At {
  readonly folder: QueueFolder
  readonly name: string
  readonly now: Instant
}

/** Reads a file; undefined if it was moved meanwhile. */
function readFile(queue: string, { folder, name, now }: At): [QueueFile] | undefined {
  const path = `${folder}/${name}`
  if (disk.lstat(join(queue, path)) === undefined) return undefined
  const noRun = (kind: NoRun['kind'], fault: string): [QueueFile] => [
    { kind, path, fault, jobId: jobIdIn(name) },
  ]
  if (!isQueueName(name)) return noRun('stray', 'it is not named like a run')
  const read = readQueueFile(disk, join(queue, path))
  const run = read.kind === 'file' ? runOf(read, { folder, name, modifiedAt: read.modifiedAt }) : read.fault
  if (typeof run !== 'string') return [{ kind: 'run', path, run }]
  const isMalformed = read.kind === 'file' || read.isMalformed
  const isLeft = folder !== 'pending' || now - read.modifiedAt < writingMs
  if (isLeft) return noRun('invalid', `it ${run}`)
  return noRun(isMalformed ? 'malformed' : 'stray', `it ${run}`)
}

/** The id in the name of a file, as far as it can be read. */
function jobIdIn(name: string): string {
  const written = name.slice(17).replace(/\.json$/, '')
  try {
    return isQueueName(name) ? decodeURIComponent(written) : ''
  } catch {
    return written
  }
}

function runOf(
  read: FileText,
  at: { readonly name: string; readonly folder: QueueFolder; readonly modifiedAt: Instant },
): FiledRun | string {
  const { file } = read
  const { rota, attempts, pipeline_path: pipelinePath, run_at: runAt, lease_until: leaseUntil } = file
  const own = isMap(rota) && typeof rota['id'] === 'string' ? rota['id'] : undefined
  // The same check as in the store: what it would not import is not a run here either.
  const foreign = own === undefined ? runOfForeign(read, at.name) : undefined
  if (typeof foreign === 'string') return foreign
  const dueAt = instantOf(file['scheduled_for'])
  if (dueAt === undefined) return 'has a scheduled_for that is not an instant'
  return {
    id: own ?? foreign?.id ?? '',
    state: at.folder,
    dueAt,
    runAt: instantOf(runAt) ?? dueAt,
    jobId: String(file['job_id']),
    runId: String(file['run_id']),
    pipelinePath: typeof pipelinePath === 'string' ? pipelinePath : '',
    attempts: typeof attempts === 'number' ? attempts : 0,
    seq: isMap(rota) && typeof rota['seq'] === 'number' ? rota['seq'] : undefined,
    heldUntil: instantOf(leaseUntil) ?? at.modifiedAt + foreignLeaseMs,
  }
}
