import { assertFires } from '../../time/cron/schedule.js'
import { formatInstant, parseInstant, type Instant } from '../../time/instant.js'
import { resolveLocalTime } from '../../time/local-time.js'
import { defineTrigger } from '../../kernel/trigger/define-trigger.js'
import { fault, shown, within, type Place } from '../../kernel/definition/faults.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Json } from '../../kernel/definition/json.js'
import { triggerRunId } from '../../kernel/identity/occurrence.js'
import { payloadFault } from '../../kernel/job/payload.js'
import { isMap, readName, timed, type Written } from '../../kernel/definition/read-value.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'

/** A command with whom it is for and when it is due: by a cron expression in UTC, or once. */
export interface CommandJob {
  readonly id: string
  readonly when: Recurring | OneShot
  readonly command: string
  readonly userId: string
  readonly metadata: Readonly<Record<string, string>>
  /** What its line says beyond the fields that are known; its runs get it too. */
  readonly extra: Readonly<Record<string, Json>>
}

/** Due whenever the expression matches. */
export interface Recurring {
  readonly type: 'recurring'
  readonly schedule: string
}

/** Due once. */
export interface OneShot {
  readonly type: 'oneshot'
  readonly executeAt: Instant
}

/** How the fields are spelled: in files with underscores, in the library in camelCase. */
export interface FieldNames {
  readonly executeAt: string
  readonly userId: string
}

/** A job as somebody wrote it: its fields, how they are spelled, and what else there is. */
export interface WrittenJob {
  readonly input: Written
  readonly names: FieldNames
  readonly extra?: CommandJob['extra'] | undefined
}

/** The spelling of the library. */
export const libraryFields: FieldNames = { executeAt: 'executeAt', userId: 'userId' }

/** The spelling of files and of the payload of runs. */
export const fileFields: FieldNames = { executeAt: 'execute_at', userId: 'user_id' }

/** Checks a job as somebody wrote it; undefined where something was wrong, which is noted at the place. */
export function readCommandJob(written: WrittenJob, place: Place): CommandJob | undefined {
  const { input, names, extra = {} } = written
  const before = place.faults.length
  const id = readName(input['id'], within(place, 'id'))
  const when = readWhen(input, names, place)
  const command = readText(
    input['command'],
    { shortest: 1, longest: longestCommand },
    within(place, 'command'),
  )
  const userId = readText(
    input[names.userId] ?? '',
    { shortest: 0, longest: longestUser },
    within(place, names.userId),
  )
  const metadata = readMetadata(input['metadata'], within(place, 'metadata'))
  if (place.faults.length > before || id === undefined || when === undefined) return undefined
  const job = { id, when, command, userId, metadata, extra }
  const problem = payloadFault(commandPayload(job))
  return problem === undefined ? job : fault(place, problem.message, problem.allowed)
}

/** What its runs are given. */
export function commandPayload({ command, userId, metadata, extra }: CommandJob): Json {
  return { command, user_id: userId, metadata, ...extra }
}

/** The trigger of a job, under its id, for the job of the store that performs it. */
export function commandTrigger(job: CommandJob, performer: string): Trigger {
  const { id, when } = job
  const payload = commandPayload(job)
  if (when.type === 'recurring') return defineTrigger(id, { job: performer, cron: when.schedule, payload })
  // Its one run may wait behind one that was started by hand; to skip it would lose the job.
  const at = new Date(when.executeAt)
  const trigger = defineTrigger(id, { job: performer, at, overlap: 'queue-all', payload })
  return Object.freeze({ ...trigger, recordsExecution: true })
}

/** The job that a trigger was made of. */
export function commandJobOf({ name, schedule, payload }: Trigger): CommandJob {
  const { command, user_id: userId, metadata, ...extra } = payload as unknown as CommandPayload
  const when =
    schedule.kind === 'once'
      ? ({ type: 'oneshot', executeAt: schedule.at } as const)
      : ({ type: 'recurring', schedule: schedule.kind === 'cron' ? schedule.expression : '' } as const)
  return {
    id: name,
    when,
    command,
    userId,
    metadata,
    extra,
  }
}

type CommandPayload = Readonly<Record<string, Json>> & {
  readonly command: string
  readonly user_id: string
  readonly metadata: Readonly<Record<string, string>>
}

/** The run that executes a one-shot. */
export function executingRun(trigger: Trigger): RunId | undefined {
  return trigger.schedule.kind === 'once' ? triggerRunId(trigger, trigger.schedule.at) : undefined
}

const longestCommand = 131_071
const longestUser = 1024

const typeAllowed = 'recurring (with schedule), oneshot (with the instant)'

function readWhen(input: Written, names: FieldNames, place: Place): CommandJob['when'] | undefined {
  const { type } = input
  const schedule = present(input['schedule'])
  const executeAt = present(input[names.executeAt])
  if (type !== 'recurring' && type !== 'oneshot') {
    const message = type === undefined ? 'type is missing' : `${shown(type)} is not a type`
    return fault(type === undefined ? place : within(place, 'type'), message, typeAllowed)
  }
  const isRecurring = type === 'recurring'
  const own = isRecurring ? 'schedule' : names.executeAt
  const other = isRecurring ? names.executeAt : 'schedule'
  if (present(input[other]) !== undefined) {
    fault(within(place, other), `a job that is ${type} has none`, 'leave it out')
  }
  if (present(input[own]) === undefined) {
    return fault(place, `${own} is missing`, isRecurring ? cronAllowed : instantAllowed)
  }
  return isRecurring
    ? readExpression(schedule, within(place, 'schedule'))
    : readExecuteAt(executeAt, within(place, names.executeAt))
}

/** Programs that write every field write nothing, or an empty text, where there is none. */
function present(value: unknown): unknown {
  return value === null || value === '' ? undefined : value
}

const cronAllowed = 'five fields such as 0 9 * * *, or six with seconds first'
const instantAllowed = 'an instant such as 2026-01-05T09:00:00Z'

function readExpression(value: unknown, place: Place): Recurring | undefined {
  if (typeof value !== 'string') return fault(place, `${shown(value)} is not a cron expression`, cronAllowed)
  const before = place.faults.length
  timed(place, () => assertFires(value, { timezone: 'UTC' }))
  return place.faults.length > before ? undefined : { type: 'recurring', schedule: value }
}

function readExecuteAt(value: unknown, place: Place): OneShot | undefined {
  const at = readInstant(value, place)
  if (at === undefined) return undefined
  if (at >= 0) return { type: 'oneshot', executeAt: at }
  return fault(place, `${formatInstant(at)} lies before 1970`, instantAllowed)
}

function readInstant(value: unknown, place: Place): Instant | undefined {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.getTime()
  if (typeof value !== 'string') return fault(place, `${shown(value)} is not an instant`, instantAllowed)
  // Only the reader of instants takes fractions of a second.
  return timed(place, () => (value.includes('.') ? parseInstant(value) : resolveLocalTime(value, 'UTC')))
}

function readText(
  value: unknown,
  bounds: { readonly shortest: number; readonly longest: number },
  place: Place,
): string {
  const allowed = `a text of ${bounds.shortest} to ${bounds.longest} bytes without a zero byte`
  const isFitting =
    typeof value === 'string' &&
    value.length >= bounds.shortest &&
    Buffer.byteLength(value) <= bounds.longest &&
    !value.includes('\0')
  if (isFitting) return value
  fault(place, value === undefined ? 'it is missing' : `${shown(value)} is not allowed`, allowed)
  return ''
}

function readMetadata(value: unknown, place: Place): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {}
  if (!isMap(value)) {
    fault(place, `${shown(value)} is not a map`, 'names with texts')
    return {}
  }
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string')
      fault(within(place, name), `${shown(text)} is not a text`, 'a text; write a number in quotes')
  }
  return { ...value } as Record<string, string>
}
