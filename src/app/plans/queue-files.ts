import { readdirSync, readFileSync, statSync, type Dirent } from 'node:fs'
import { join, resolve } from 'node:path'
import { isMap, type Written } from '../../model/read-value.js'
import { instantOf, runOfForeign } from '../../store/files/queue-file.js'
import type { Instant } from '../../time/instant.js'

/** A file of a queue directory, as anybody who looks into it finds it. */
export type QueueFile =
  | { readonly kind: 'run'; readonly path: string; readonly run: FiledRun }
  | { readonly kind: 'invalid'; readonly path: string; readonly fault: string }

/** A run as its file says. */
export interface FiledRun {
  /** Its id, also where no Rota has taken it in yet. */
  readonly id: string
  readonly state: QueueFolder
  readonly dueAt: Instant
  readonly runAt: Instant
  readonly jobId: string
  readonly runId: string
  readonly pipelinePath: string
  readonly attempts: number
}

type QueueFolder = (typeof folders)[number]

const folders = ['pending', 'running', 'done', 'failed'] as const
const largest = 1024 * 1024

/** Every file of a queue directory, by state and name; those that are no runs are told with what is wrong. */
export function queueFiles(path: string, directory: string): readonly QueueFile[] {
  return folders.flatMap((folder) => {
    const whole = join(resolve(directory, path), folder)
    return entriesOf(whole).flatMap((entry): QueueFile[] => {
      const read = readRun(join(whole, entry.name), { entry, folder })
      const at = `${folder}/${entry.name}`
      if (read === undefined) return []
      return typeof read === 'string'
        ? [{ kind: 'invalid', path: at, fault: read }]
        : [{ kind: 'run', path: at, run: read }]
    })
  })
}

/** The names of all files of a queue directory, whatever is in them. */
export function queueFileNames(path: string): ReadonlySet<string> {
  return new Set(folders.flatMap((folder) => entriesOf(join(path, folder)).map((entry) => entry.name)))
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** The run of a file, what is wrong with it, or nothing where it has moved on between two looks. */
function readRun(
  path: string,
  { entry, folder }: { readonly entry: Dirent; readonly folder: QueueFolder },
): FiledRun | string | undefined {
  if (entry.isSymbolicLink()) return 'it is a symbolic link'
  if (!entry.isFile()) return 'it is not a file'
  try {
    const { size, uid } = statSync(path)
    if (uid !== (process.getuid?.() ?? uid)) return 'it belongs to another user'
    if (size > largest) return `it is larger than ${largest / 1024} KiB`
    const file: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isMap(file) ? runOf(file, { name: entry.name, folder }) : 'it is not a JSON object'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message
  }
}

function runOf(
  file: Written,
  at: { readonly name: string; readonly folder: QueueFolder },
): FiledRun | string {
  const { rota, attempts, pipeline_path: pipelinePath, run_at: runAt } = file
  const own = isMap(rota) && typeof rota['id'] === 'string' ? rota['id'] : undefined
  // Judged as the store judges it: what it would not take in is no run here either.
  const foreign = own === undefined ? runOfForeign(file, at.name) : undefined
  if (typeof foreign === 'string') return `it ${foreign}`
  const dueAt = instantOf(file['scheduled_for'])
  if (dueAt === undefined) return 'it has a scheduled_for that is not an instant'
  return {
    id: own ?? foreign?.id ?? '',
    state: at.folder,
    dueAt,
    runAt: instantOf(runAt) ?? dueAt,
    jobId: String(file['job_id']),
    runId: String(file['run_id']),
    pipelinePath: typeof pipelinePath === 'string' ? pipelinePath : '',
    attempts: typeof attempts === 'number' ? attempts : 0,
  }
}
