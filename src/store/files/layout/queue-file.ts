import { exactIntegers, roundedInteger, roundedMessage } from '../../../kernel/definition/exact-integer.js'
import { pipelineJob } from '../../../kernel/job/pipeline.js'
import { payloadFault } from '../../../kernel/job/payload.js'
import { isMap } from '../../../kernel/definition/read-value.js'
import type { NewRun } from '../../../kernel/run/run.js'
import { planRunId } from '../../../kernel/identity/occurrence.js'
import { parseInstant, type Instant } from '../../../time/instant.js'
import type { StoreWarning } from '../../store-health.js'
import type { Directory } from './directory.js'
import { fileNameOf, payloadOf } from './run-file.js'

/** The largest queue file that is read. */
const maxBytes = 1024 * 1024

/** Numbers of attempts go on from what a file says, each higher than the one before. */
const mostAttempts = 1_000_000_000

/** A queue file as it was found. */
export type QueueFile =
  | ({ readonly kind: 'file'; readonly modifiedAt: number } & FileText)
  | {
      readonly kind: 'fault'
      readonly fault: string
      readonly modifiedAt: number
      /** Whether it is a file of this user that says nothing useful, and not something that must not be touched. */
      readonly isMalformed: boolean
    }

/** What a file says, and its text. */
export interface FileText {
  readonly file: Readonly<Record<string, unknown>>
  readonly text: string
}

/** Whether a file is named as the file of a run is. */
export function isQueueName(name: string): boolean {
  return /^\d{8}T\d{6}Z_.+\.json$/.test(name) && !isErrorName(name)
}

/** Whether a file says why another one is no run. */
export function isErrorName(name: string): boolean {
  return name.endsWith('.error.json')
}

/** The file beside one that is no run: it says why. */
export function errorNameOf(name: string): string {
  return `${name.slice(0, -'.json'.length)}.error.json`
}

/** Reads a file of a queue directory, if it is one that may be read. */
export function readQueueFile(directory: Directory, path: string): QueueFile {
  const found = directory.disk.look(directory.of(path))
  const modifiedAt = found?.mtimeMs ?? 0
  const refuse = (fault: string): QueueFile => ({ kind: 'fault', fault, modifiedAt, isMalformed: false })
  const malformed = (fault: string): QueueFile => ({ kind: 'fault', fault, modifiedAt, isMalformed: true })
  if (found === undefined) return refuse('is gone')
  if (found.isSymbolicLink()) return refuse('is a symbolic link')
  if (!found.isFile()) return refuse('is not a file')
  const user = process.getuid?.()
  if (user !== undefined && found.uid !== user) return refuse('belongs to another user')
  if (found.size > maxBytes) return malformed(`is larger than ${maxBytes / 1024} KiB`)
  try {
    const text = directory.text(path) ?? ''
    const file: unknown = JSON.parse(text)
    return isMap(file) ? { kind: 'file', file, text, modifiedAt } : malformed('is not a JSON object')
  } catch {
    return malformed('is not JSON')
  }
}

/** The run that a file of another program stands for, or what is wrong with it. */
export function runOfForeign({ file, text }: FileText, name: string): NewRun | string {
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
  const problem = problemOf(file) ?? roundedIn(text)
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
  const isMapOrNull = typeof params === 'object' && !Array.isArray(params)
  if (params !== undefined && !isMapOrNull) return 'has params that are not a map'
  const count = attempts ?? 0
  const isCount = Number.isInteger(count) && Number(count) >= 0 && Number(count) <= mostAttempts
  return isCount ? undefined : `has attempts that are not a count`
}

/** It is written again with every change of its run, and an integer that is rounded then would be another. */
function roundedIn(text: string): string | undefined {
  const found = roundedInteger(text)
  if (found === undefined) return undefined
  const place = `${found.line}:${found.column}`
  return `says at ${place} what cannot be kept: ${roundedMessage(found.text)} (allowed: ${exactIntegers})`
}

/** What to say of a file that is no run and is left where it lies. */
export function strayWarning(path: string, fault: string): StoreWarning {
  const [, name = ''] = path.split(/\/(.*)/s)
  if (!isQueueName(name))
    return {
      message: `${path} is not named as a run is; it is ignored`,
      todo: 'move it out of the queue directory',
    }
  return { message: `${path} ${fault}; it is left there`, todo: 'mend it, or move it out of the directory' }
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
