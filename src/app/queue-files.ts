import { readdirSync, readFileSync, statSync, type Dirent } from 'node:fs'
import { join, resolve } from 'node:path'
import { planRunId } from '../model/occurrence.js'
import { isMap, type Written } from '../model/read-value.js'
import { parseInstant, type Instant } from '../time/instant.js'

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
  if (!entry.isFile()) return 'it is not a file'
  try {
    if (statSync(path).size > largest) return `it is larger than ${largest / 1024} KiB`
    const file: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isMap(file) ? runOf(file, { name: entry.name, folder }) : 'it is not a JSON object'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message
  }
}

const required = ['schema_version', 'job_id', 'scheduled_for', 'run_id']

function runOf(
  file: Written,
  at: { readonly name: string; readonly folder: QueueFolder },
): FiledRun | string {
  const missing = required.filter((key) => typeof file[key] !== 'string')
  if (missing.length > 0) return `it lacks ${missing.join(', ')}`
  const { rota, attempts, pipeline_path: pipelinePath, run_at: runAt } = file
  const jobId = String(file['job_id'])
  const dueAt = instantOf(file['scheduled_for'])
  if (dueAt === undefined) return 'its scheduled_for is not an instant'
  const own = isMap(rota) && typeof rota['id'] === 'string' ? rota['id'] : undefined
  const stamp = `${new Date(dueAt).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
  const name = `${stamp}_${encodeURIComponent(jobId)}.json`
  // What Rota itself wrote may have another name, where two runs share one.
  if (own === undefined && at.name !== name) return `it should be called ${name}`
  return {
    id: own ?? planRunId(jobId, dueAt),
    state: at.folder,
    dueAt,
    runAt: instantOf(runAt) ?? dueAt,
    jobId,
    runId: String(file['run_id']),
    pipelinePath: typeof pipelinePath === 'string' ? pipelinePath : '',
    attempts: typeof attempts === 'number' ? attempts : 0,
  }
}

function instantOf(text: unknown): Instant | undefined {
  try {
    return typeof text === 'string' ? parseInstant(text) : undefined
  } catch {
    return undefined
  }
}
