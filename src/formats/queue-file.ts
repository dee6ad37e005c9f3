import type { Stats } from 'node:fs'
import type { Json } from '../kernel/definition/json.js'
import { exactIntegers, roundedInteger, roundedMessage } from '../kernel/definition/exact-integer.js'
import { pipelineJob } from '../kernel/job/pipeline.js'
import { payloadFault } from '../kernel/job/payload.js'
import { isMap } from '../kernel/definition/read-value.js'
import type { NewRun } from '../kernel/run/run.js'
import { planRunId } from '../kernel/identity/occurrence.js'
import { parseInstant, type Instant } from '../time/instant.js'

/** The folders of a queue directory, by the state of the runs in them. */
export const queueFolders = ['pending', 'running', 'done', 'failed'] as const

/** A folder of a queue directory. */
export type QueueFolder = (typeof queueFolders)[number]

/** Younger files that cannot be read are skipped: another program may be writing them. */
export const writingMs = 60_000

/** The lease of a file of another program that does not contain one. */
export const foreignLeaseMs = 30_000

/** Larger queue files are refused. */
const maxBytes = 1024 * 1024

/** The highest number of attempts that a file may contain; later attempts continue from it. */
const mostAttempts = 1_000_000_000

/** A queue file as it was read. */
export type QueueFile =
  | ({ readonly kind: 'file'; readonly modifiedAt: number } & FileText)
  | {
      readonly kind: 'fault'
      readonly fault: string
      readonly modifiedAt: number
      /** Whether the file may be moved: it belongs to this user but its content is not a run. */
      readonly isMalformed: boolean
    }

/** The content of a file, parsed and as text. */
export interface FileText {
  readonly file: Readonly<Record<string, unknown>>
  readonly text: string
}

/** The file system calls for reading queue files. */
export interface QueueDisk {
  read(path: string): Buffer | undefined
  /** The status of a path without following symbolic links. */
  lstat(path: string): Stats | undefined
}

/** The name of a run's file: its due instant in seconds, then the id that people know. */
export function fileNameOf(dueAt: Instant, id: string): string {
  const stamp = new Date(dueAt).toISOString().slice(0, 19).replace(/[-:]/g, '')
  return `${stamp}Z_${encodeURIComponent(id)}.json`
}

/** Whether a file is named like the file of a run. */
export function isQueueName(name: string): boolean {
  return /^\d{8}T\d{6}Z_.+\.json$/.test(name) && !isErrorName(name)
}

/** Whether a file contains the reason why another one is not a run. */
export function isErrorName(name: string): boolean {
  return name.endsWith('.error.json')
}

/** The name of the file that contains the reason why this one is not a run. */
export function errorNameOf(name: string): string {
  return `${name.slice(0, -'.json'.length)}.error.json`
}

/** Reads a file of a queue folder, unless it must not be read. */
export function readQueueFile(disk: QueueDisk, path: string): QueueFile {
  const found = disk.lstat(path)
  const modifiedAt = found?.mtimeMs ?? 0
  const refuse = (fault: string): QueueFile => ({ kind: 'fault', fault, modifiedAt, isMalformed: false })
  const malformed = (fault: string): QueueFile => ({ kind: 'fault', fault, modifiedAt, isMalformed: true })
  if (found === undefined) return refuse('is missing')
  if (found.isSymbolicLink()) return refuse('is a symbolic link')
  if (!found.isFile()) return refuse('is not a file')
  const user = process.getuid?.()
  if (user !== undefined && found.uid !== user) return refuse('belongs to another user')
  if (found.size > maxBytes) return malformed(`is larger than ${maxBytes / 1024} KiB`)
  try {
    const text = disk.read(path)?.toString('utf8') ?? ''
    const file: unknown = JSON.parse(text)
    return isMap(file) ? { kind: 'file', file, text, modifiedAt } : malformed('is not a JSON object')
  } catch {
    return malformed('is not JSON')
  }
}

/** The run that a file of another program describes, or what is wrong with the file. */
export function runOfForeign({ file, text }: FileText, name: string): NewRun | string {
  const missing = ['schema_version', 'job_id', 'scheduled_for', 'pipeline_path', 'run_id'].filter(
    (key) => typeof file[key] !== 'string',
  )
  if (missing.length > 0) return `lacks ${missing.join(', ')}`
  if ('rota' in file) return 'was written by Rota and changed since'
  if (file['schema_version'] !== 'v1')
    return `has schema_version ${String(file['schema_version'])}; allowed: v1`
  const jobId = String(file['job_id'])
  const dueAt = instantOf(file['scheduled_for'])
  if (dueAt === undefined) return 'has a scheduled_for that is not an instant'
  if (/\p{Surrogate}/u.test(jobId)) return 'has a job_id that cannot be part of a file name'
  if (fileNameOf(dueAt, jobId) !== name) return `should be named ${fileNameOf(dueAt, jobId)}`
  const problem = problemOf(file) ?? roundedIn(text)
  if (problem !== undefined) return problem
  return {
    id: planRunId(jobId, dueAt),
    job: typeof file['job'] === 'string' ? file['job'] : pipelineJob,
    origin: 'enqueue',
    dueAt,
    runAt: dueAt,
    priority: 0,
    slots: [],
    payload: payloadOf(file),
    labels: { job_id: jobId, run_id: String(file['run_id']) },
  }
}

/** Why a file cannot be stored: nesting that would overflow the stack, params over the size limit, or a bad number of attempts. */
function problemOf(file: Readonly<Record<string, unknown>>): string | undefined {
  const whole = payloadFault(file)
  if (whole?.code === 'PAYLOAD_INVALID') return `cannot be stored: ${whole.message}`
  const { params, attempts } = file
  const given = payloadFault(params)
  if (given !== undefined) return `has params that cannot be stored: ${given.message}`
  const isMapOrNull = typeof params === 'object' && !Array.isArray(params)
  if (params !== undefined && !isMapOrNull) return 'has params that are not a map'
  const count = attempts ?? 0
  const isCount = Number.isInteger(count) && Number(count) >= 0 && Number(count) <= mostAttempts
  return isCount ? undefined : `has attempts that are not a count`
}

/** The file is rewritten with every change of its run, and a large integer would be rounded then. */
function roundedIn(text: string): string | undefined {
  const found = roundedInteger(text)
  if (found === undefined) return undefined
  const place = `${found.line}:${found.column}`
  return `cannot be stored: ${roundedMessage(found.text)} at ${place} (allowed: ${exactIntegers})`
}

/** The payload of a pipeline run is its path and params; any other object is stored as the params. */
export function payloadOf(
  file: Readonly<Record<string, unknown>> & { readonly rota?: { readonly payload?: Json | undefined } },
): Json | undefined {
  const pipelinePath = file['pipeline_path']
  const params = file['params'] as Json | undefined
  if (typeof pipelinePath === 'string') return { pipeline_path: pipelinePath, params: params ?? {} }
  return params === null || params === undefined ? file.rota?.payload : params
}

/** The number of attempts that a file contains. */
export function attemptsOf(file: Readonly<Record<string, unknown>>): number {
  return Number(file['attempts'] ?? 0)
}

/** Parses an instant; returns undefined if the value is not one. */
export function instantOf(value: unknown): Instant | undefined {
  if (typeof value !== 'string') return undefined
  try {
    return parseInstant(value)
  } catch {
    return undefined
  }
}
