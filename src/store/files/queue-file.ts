import { pipelineJob } from '../../model/pipeline.js'
import { payloadFault } from '../../model/payload.js'
import type { NewRun } from '../../model/run.js'
import { planRunId } from '../../model/occurrence.js'
import { parseInstant, type Instant } from '../../time/instant.js'
import type { Directory } from './directory.js'
import { fileNameOf, payloadOf } from './run-file.js'

/** The largest queue file that is read. */
const maxBytes = 1024 * 1024

/** Numbers of attempts go on from what a file says, each higher than the one before. */
const mostAttempts = 1_000_000_000

/** A queue file as it was found. */
export type QueueFile =
  | { readonly kind: 'file'; readonly file: Readonly<Record<string, unknown>>; readonly modifiedAt: number }
  | { readonly kind: 'fault'; readonly fault: string; readonly modifiedAt: number }

/** Reads a file of a queue directory, if it is one that may be read. */
export function readQueueFile(directory: Directory, path: string): QueueFile {
  const found = directory.disk.look(directory.of(path))
  const modifiedAt = found?.mtimeMs ?? 0
  const refuse = (fault: string): QueueFile => ({ kind: 'fault', fault, modifiedAt })
  if (found === undefined) return refuse('is gone')
  if (found.isSymbolicLink()) return refuse('is a symbolic link')
  if (!found.isFile()) return refuse('is not a file')
  const user = process.getuid?.()
  if (user !== undefined && found.uid !== user) return refuse('belongs to another user')
  if (found.size > maxBytes) return refuse(`is larger than ${maxBytes / 1024} KiB`)
  try {
    const file: unknown = JSON.parse(directory.text(path) ?? '')
    if (typeof file === 'object' && file !== null && !Array.isArray(file))
      return { kind: 'file', file: file as Readonly<Record<string, unknown>>, modifiedAt }
    return refuse('is not a JSON object')
  } catch {
    return refuse('is not JSON')
  }
}

/** The run that a file of another program stands for, or what is wrong with it. */
export function runOfForeign(file: Readonly<Record<string, unknown>>, name: string): NewRun | string {
  const missing = ['schema_version', 'job_id', 'scheduled_for', 'pipeline_path', 'run_id'].filter(
    (key) => typeof file[key] !== 'string',
  )
  if (missing.length > 0) return `lacks ${missing.join(', ')}`
  if ('rota' in file) return 'was written by Rota and changed since'
  if (file['schema_version'] !== 'v1')
    return `has schema_version ${String(file['schema_version'])}; allowed is v1`
  const jobId = String(file['job_id'])
  const dueAt = instantOf(file['scheduled_for'])
  if (dueAt === undefined) return 'has a scheduled_for that is not an instant'
  if (/\p{Surrogate}/u.test(jobId)) return 'has a job_id that no file name can carry'
  if (fileNameOf(dueAt, jobId) !== name) return `should be called ${fileNameOf(dueAt, jobId)}`
  const problem = problemOf(file)
  if (problem !== undefined) return problem
  return {
    id: planRunId(jobId, dueAt),
    job: typeof file['job'] === 'string' ? file['job'] : pipelineJob,
    origin: 'enqueue',
    dueAt,
    runAt: dueAt,
    priority: 0,
    gates: [],
    payload: payloadOf(file),
    labels: { job_id: jobId, run_id: String(file['run_id']) },
  }
}

/** What of a file cannot be kept: nesting that would end the process which copies it, more params than a run may have, or a count that is none. */
function problemOf(file: Readonly<Record<string, unknown>>): string | undefined {
  const whole = payloadFault(file)
  if (whole?.code === 'PAYLOAD_INVALID') return `says what cannot be kept: ${whole.message}`
  const { params, attempts } = file
  const given = payloadFault(params)
  if (given !== undefined) return `has params that cannot be kept: ${given.message}`
  const isMap = typeof params === 'object' && !Array.isArray(params)
  if (params !== undefined && !isMap) return 'has params that are not a map'
  const count = attempts ?? 0
  const isCount = Number.isInteger(count) && Number(count) >= 0 && Number(count) <= mostAttempts
  return isCount ? undefined : `has attempts that are not a count`
}

/** How often a file says that it was tried. */
export function attemptsOf(file: Readonly<Record<string, unknown>>): number {
  return Number(file['attempts'] ?? 0)
}

/** The instant that a value of a file says, where it says one. */
export function instantOf(value: unknown): Instant | undefined {
  if (typeof value !== 'string') return undefined
  try {
    return parseInstant(value)
  } catch {
    return undefined
  }
}
