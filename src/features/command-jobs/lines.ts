import { isUtf8 } from 'node:buffer'
import { readCommandJob, type CommandJob } from './definition.js'
import { RotaError, type Fault } from '../../kernel/definition/errors.js'
import { didYouMean, isMap, timed, type Written } from '../../kernel/definition/read-value.js'
import {
  fault,
  placeOf,
  shown,
  within,
  type Place,
  type PlacedFault,
} from '../../kernel/definition/faults.js'
import type { Json } from '../../kernel/definition/json.js'
import { parseCron } from '../../time/cron/parse.js'
import { formatInstant, parseInstant, type Instant } from '../../time/instant.js'
import { TimeError } from '../../time/time-error.js'
import { jsonKeys, type JsonKey } from '../../formats/json-keys.js'

/** One line of a jobs file, with its original bytes, including the line feed. */
export type JobLine = { readonly line: number; readonly bytes: Buffer } & (
  | { readonly kind: 'blank' }
  | { readonly kind: 'job'; readonly job: CommandJob; readonly executed: Executed | undefined }
  | {
      readonly kind: 'faulty'
      readonly faults: readonly LineFault[]
      /** The id of its job, if it can be found. */
      readonly id: string | undefined
    }
)

/** A line that is a job. */
export type GoodLine = JobLine & { readonly kind: 'job' }

/** The lines that are jobs. */
export function jobsIn(lines: readonly JobLine[]): readonly GoodLine[] {
  return lines.filter((line) => line.kind === 'job')
}

/** When a one-shot was executed, according to its line. */
export interface Executed {
  readonly at: Instant | undefined
}

/** A fault of a line and its position; columns start at 1. */
export interface LineFault {
  readonly line: number
  readonly column: number
  readonly path: string
  readonly message: string
  readonly allowed?: string | undefined
}

/** A fault of a line as a fault of the file. */
export function toFault({ line, column, path, message, allowed }: LineFault): Fault {
  return { path: `${line}:${column} ${path}`.trimEnd(), message, allowed }
}

/** The fields of a line in the order in which they are written. */
const fields: readonly string[] = [
  'id',
  'type',
  'schedule',
  'execute_at',
  'command',
  'user_id',
  'metadata',
  'executed',
  'executed_at',
]

/** Larger than a payload, because escapes make text longer. */
export const longestLine = 1_048_576

/** More lines than a file of the maximum size has if its lines are jobs. */
const mostLines = 500_000

/** How many faults of a line are reported. */
const mostFaults = 20

/** For how many lines that are not JSON the position and reason are determined. */
const mostExplained = 1000

/** How many lines are read before other work gets a turn. */
const linesAtOnce = 500

/** Reads the lines of a jobs file. A faulty line does not affect the others; of two lines with the same id, the first applies. */
export async function readJobLines(
  bytes: Buffer,
  { unknown, path }: { readonly unknown: 'keep' | 'refuse'; readonly path: string },
): Promise<readonly JobLine[]> {
  const lines: JobLine[] = []
  const seen = new Map<string, number>()
  let faulty = 0
  for (const part of splitLines(bytes)) {
    if (lines.length === mostLines)
      throw new RotaError('JOBS_INVALID', `${path} has more than ${mostLines} lines`)
    const line = lines.length + 1
    const read = await readLine(part, { line, unknown, seen, isExplained: faulty < mostExplained })
    if (read.kind === 'job') seen.set(read.job.id, line)
    if (read.kind === 'faulty') faulty += 1
    lines.push(read)
    if (line % linesAtOnce === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return lines
}

/** Whether the last line has no line feed and cannot be read: somebody is still writing it, or was killed meanwhile. */
export function isTorn(lines: readonly JobLine[]): boolean {
  const last = lines.at(-1)
  return last?.kind === 'faulty' && last.bytes.at(-1) !== newline
}

/** The line of a job, without the line feed. */
export function formatJobLine(job: CommandJob, executed?: Executed): string {
  const { id, type, schedule, executeAt, command, userId, metadata, extra } = job
  return JSON.stringify({
    id,
    type,
    schedule,
    execute_at: executeAt === undefined ? undefined : formatInstant(executeAt),
    command,
    user_id: userId,
    metadata,
    ...executedFields(executed),
    ...extra,
  })
}

/** A line with the mark that its job was executed; everything else stays as written, in its order. */
export function markExecuted(bytes: Buffer, at: Instant | undefined): Buffer {
  const text = bytes.toString('utf8')
  const end = /\r?\n$/.exec(text)?.[0] ?? ''
  const line = JSON.parse(text.replace(/^\ufeff/, '')) as Written
  return Buffer.from(JSON.stringify({ ...line, ...executedFields({ at }) }) + end)
}

function executedFields(executed: Executed | undefined) {
  const at = executed?.at === undefined ? null : formatInstant(executed.at)
  return { executed: executed !== undefined, executed_at: at }
}

const newline = 0x0a

function* splitLines(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(newline, start)
    const end = found === -1 ? bytes.length : found + 1
    yield bytes.subarray(start, end)
    start = end
  }
}

interface LineContext {
  readonly line: number
  readonly unknown: 'keep' | 'refuse'
  readonly seen: ReadonlyMap<string, number>
  readonly isExplained: boolean
}

async function readLine(bytes: Buffer, context: LineContext): Promise<JobLine> {
  const { line } = context
  const problem = (message: string, allowed: string, column = 1): JobLine => {
    const id = /"id"\s*:\s*"([^"\\]{1,128})"/.exec(bytes.toString('utf8', 0, 4096))?.[1]
    return { kind: 'faulty', line, bytes, faults: [{ line, column, path: '', message, allowed }], id }
  }
  if (bytes.length > longestLine) {
    return problem(`${bytes.length} bytes are too many for a line`, `at most ${longestLine}`)
  }
  if (!isUtf8(bytes)) return problem('it is not UTF-8 text', 'one JSON map a line')
  const text = bytes.toString('utf8').replace(/^\ufeff|\r?\n$/g, '')
  if (text.trim() === '') return { kind: 'blank', line, bytes }
  const value = parsed(text)
  if (value === undefined && !context.isExplained) return problem('it is not JSON', 'one JSON map a line')
  if (value === undefined) {
    const { readJsonText } = await import('../../formats/config/config-text.js')
    const [first] = readJsonText(text).faults
    return problem(first?.message ?? 'it is not JSON', 'one JSON map a line', first?.column)
  }
  if (!isMap(value)) return problem(`a map was expected, not ${shown(value)}`, 'one JSON map a line')
  return readFields({ value, text, bytes }, context)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function readFields(
  { value, text, bytes }: { value: Written; text: string; bytes: Buffer },
  { line, unknown, seen }: LineContext,
): JobLine {
  const place = placeOf()
  const extra = readExtra(value, unknown, place)
  const job = readCommandJob({ input: value, spelling: 'file', extra }, place)
  const executed = readExecuted(value, place)
  const before = typeof value['id'] === 'string' ? seen.get(value['id']) : undefined
  if (before !== undefined) fault(within(place, 'id'), `line ${before} already has this id`, 'a unique id')
  // A text that serializes to itself has no duplicate key; this check takes a tenth of the time.
  const isAsWritten = place.faults.length === 0 && JSON.stringify(value) === text
  const keys = isAsWritten ? [] : jsonKeys(text)
  refuseTwice(keys, place)
  if (place.faults.length === 0 && job !== undefined) {
    return { kind: 'job', line, bytes, job, executed }
  }
  const last = new Map(keys.map((key) => [key.path.join('\0'), key]))
  const faults = place.faults.map((one) => ({
    line,
    column: columnOf(one, last, value),
    path: one.keys.join('.'),
    message: one.message,
    allowed: one.allowed,
  }))
  const id = typeof value['id'] === 'string' ? value['id'] : undefined
  return { kind: 'faulty', line, bytes, faults: firstOf(faults.toSorted((a, b) => a.column - b.column)), id }
}

function firstOf(faults: readonly LineFault[]): readonly LineFault[] {
  const next = faults[mostFaults]
  if (next === undefined) return faults
  const { line, column } = next
  const message =
    faults.length - mostFaults === 1
      ? '1 more fault follows'
      : `${faults.length - mostFaults} more faults follow`
  return [...faults.slice(0, mostFaults), { line, column, path: '', message }]
}

function readExecuted(value: Written, place: Place): Executed | undefined {
  const { executed = false, executed_at: written = null } = value
  if (typeof executed !== 'boolean') {
    return fault(within(place, 'executed'), `${shown(executed)} is neither true nor false`, 'true, false')
  }
  const at = readExecutedAt(written, within(place, 'executed_at'))
  if (!executed) return undefined
  if (value['type'] === 'recurring')
    return fault(within(place, 'executed'), 'a recurring job is never executed', 'false')
  return { at }
}

function readExecutedAt(written: unknown, place: Place): Instant | undefined {
  if (written === null || written === '') return undefined
  if (typeof written === 'string') return timed(place, () => parseInstant(written))
  return fault(
    place,
    `${shown(written)} is not an instant`,
    'null, or an instant such as 2026-01-05T09:00:02Z',
  )
}

/** The unknown fields of a line. */
function readExtra(value: Written, unknown: 'keep' | 'refuse', place: Place): CommandJob['extra'] {
  const others = Object.entries(value).filter(([name]) => !fields.includes(name))
  if (unknown === 'refuse') {
    for (const [name] of others) {
      fault(within(place, name), `there is no such field${didYouMean(name, fields)}`, fields.join(', '))
    }
  }
  return Object.fromEntries(others.map(([name, one]) => [name, one as Json]))
}

function refuseTwice(keys: readonly JsonKey[], place: Place): void {
  const known = new Set<string>()
  for (const { path } of keys) {
    const name = JSON.stringify(path)
    if (known.has(name)) fault(pathPlace(place, path), 'duplicate key', 'each key once')
    known.add(name)
  }
}

function pathPlace(place: Place, path: readonly string[]): Place {
  return path.reduce((at, key) => within(at, key), place)
}

/** The column of a fault: that of the last key with its name, or the position inside a cron expression. */
function columnOf({ keys: path }: PlacedFault, keys: ReadonlyMap<string, JsonKey>, value: Written): number {
  const key = keys.get(path.join('\0'))
  if (key === undefined) return 1
  if (path.join('.') !== 'schedule' || typeof value['schedule'] !== 'string') return key.offset + 1
  const position = cronPosition(value['schedule'])
  // After the opening quote.
  return position === undefined ? key.offset + 1 : key.valueOffset + 2 + position
}

function cronPosition(expression: string): number | undefined {
  try {
    parseCron(expression)
    return undefined
  } catch (error) {
    return error instanceof TimeError ? error.position : undefined
  }
}
