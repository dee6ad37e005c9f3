import { assertFires } from '../../time/cron/schedule.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { readInstant } from '../../kernel/definition/read-instant.js'
import { defineTrigger } from '../../kernel/trigger/define-trigger.js'
import { fault, shown, within, type Place } from '../../kernel/definition/faults.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Json } from '../../kernel/definition/json.js'
import { triggerRunId } from '../../kernel/identity/occurrence.js'
import { payloadFault } from '../../kernel/job/payload.js'
import { isMap, readName, timed, type Written } from '../../kernel/definition/read-value.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'

/** A command, its user, and when it is due. */
export type CommandJob = Due & {
  readonly id: string
  readonly command: string
  readonly userId: string
  readonly metadata: Readonly<Record<string, string>>
  /** Unknown fields of its line; its runs get them too. */
  readonly extra: Readonly<Record<string, Json>>
}

/** When a job is due: whenever a cron expression matches in UTC, or once. */
export type Due =
  | { readonly type: 'recurring'; readonly schedule: string; readonly executeAt?: undefined }
  | { readonly type: 'oneshot'; readonly executeAt: Instant; readonly schedule?: undefined }

/** How the fields are spelled: in camelCase in the library, with underscores in files and in the payload of runs. */
const fieldNames = {
  library: { executeAt: 'executeAt', userId: 'userId' },
  file: { executeAt: 'execute_at', userId: 'user_id' },
} as const

/** A job as written: its fields, their spelling, and unknown fields. */
export interface WrittenJob {
  readonly input: Written
  readonly spelling: keyof typeof fieldNames
  readonly extra?: CommandJob['extra'] | undefined
}

/** Checks a job as written; undefined if there are faults, which are added to the place. */
export function readCommandJob(written: WrittenJob, place: Place): CommandJob | undefined {
  const { input, spelling, extra = {} } = written
  const names = fieldNames[spelling]
  const before = place.faults.length
  const id = readName(input['id'], within(place, 'id'))
  const due = readDue(input, names.executeAt, place)
  const command = readText(input['command'], { min: 1, max: longestCommand }, within(place, 'command'))
  const userId = readText(
    input[names.userId] ?? '',
    { min: 0, max: longestUser },
    within(place, names.userId),
  )
  const metadata = readMetadata(input['metadata'], within(place, 'metadata'))
  if (place.faults.length > before || id === undefined || due === undefined) return undefined
  const job = { id, ...due, command, userId, metadata, extra }
  const problem = payloadFault(commandPayload(job))
  return problem === undefined ? job : fault(place, problem.message, problem.allowed)
}

/** The payload of its runs. */
export function commandPayload({ command, userId, metadata, extra }: CommandJob): Json {
  return { command, user_id: userId, metadata, ...extra }
}

/** The trigger of a command job, named by its id, for the job that performs the command. */
export function commandTrigger(job: CommandJob, performer: string): Trigger {
  const given = { job: performer, payload: commandPayload(job) }
  if (job.type === 'recurring') return defineTrigger(job.id, { ...given, cron: job.schedule })
  // Its only run may have to wait for a manual run; skipping it would lose the job.
  const trigger = defineTrigger(job.id, { ...given, at: new Date(job.executeAt), overlap: 'queue-all' })
  return Object.freeze({ ...trigger, recordsExecution: true })
}

/** The command job of a trigger. */
export function commandJobOf({ name, schedule, payload }: Trigger): CommandJob {
  const { command, user_id: userId, metadata, ...extra } = payload as unknown as CommandPayload
  const due: Due =
    schedule.kind === 'once'
      ? { type: 'oneshot', executeAt: schedule.at }
      : { type: 'recurring', schedule: schedule.kind === 'cron' ? schedule.expression : '' }
  return { id: name, ...due, command, userId, metadata, extra }
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

function readDue(input: Written, executeAt: string, place: Place): Due | undefined {
  const { type } = input
  if (type === undefined) return fault(place, 'type is missing', typeAllowed)
  if (type !== 'recurring' && type !== 'oneshot')
    return fault(within(place, 'type'), `${shown(type)} is not a type`, typeAllowed)
  const isRecurring = type === 'recurring'
  const [own, other] = isRecurring ? ['schedule', executeAt] : [executeAt, 'schedule']
  if (isPresent(input[other])) fault(within(place, other), `a job that is ${type} has none`, 'leave it out')
  if (!isPresent(input[own]))
    return fault(place, `${own} is missing`, isRecurring ? cronAllowed : instantAllowed)
  const read = isRecurring ? readExpression : readExecuteAt
  return read(input[own], within(place, own))
}

/** Programs that write every field write null or an empty text for a missing one. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

const cronAllowed = 'five fields such as 0 9 * * *, or six with seconds first'
const instantAllowed = 'an instant such as 2026-01-05T09:00:00Z'

function readExpression(value: unknown, place: Place): Due | undefined {
  if (typeof value !== 'string') return fault(place, `${shown(value)} is not a cron expression`, cronAllowed)
  const before = place.faults.length
  timed(place, () => assertFires(value, { timezone: 'UTC' }))
  return place.faults.length > before ? undefined : { type: 'recurring', schedule: value }
}

function readExecuteAt(value: unknown, place: Place): Due | undefined {
  const at = readInstant(value, place, 'UTC')
  if (at === undefined) return undefined
  if (at >= 0) return { type: 'oneshot', executeAt: at }
  return fault(place, `${formatInstant(at)} is before 1970`, instantAllowed)
}

function readText(
  value: unknown,
  bytes: { readonly min: number; readonly max: number },
  place: Place,
): string {
  const isFitting =
    typeof value === 'string' &&
    value.length >= bytes.min &&
    Buffer.byteLength(value) <= bytes.max &&
    !value.includes('\0')
  if (isFitting) return value
  const allowed = `a text of ${bytes.min} to ${bytes.max} bytes without a zero byte`
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
