import { formatDuration, MAX_DURATION_MS } from '../../time/duration.js'
import type { Calendars } from '../../kernel/calendar/define-calendar.js'
import {
  checkMoved,
  readRules,
  type BlackoutInput,
  type CalendarOptions,
} from '../../kernel/calendar/define-rules.js'
import type { JobDefinition, TriggerOrigin } from '../../kernel/definition/definitions.js'
import { readJob } from '../../kernel/job/define-job.js'
import { readZone } from '../../kernel/trigger/define-schedule.js'
import { refuse } from '../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../kernel/definition/faults.js'
import { frozen } from '../../kernel/definition/frozen.js'
import { choice, duration, flag, readTable, required } from '../../kernel/definition/option-table.js'
import { readLabels } from '../../kernel/trigger/define-trigger.js'
import {
  isMap,
  readChoice,
  readName,
  readPriority,
  readWhole,
  type Written,
} from '../../kernel/definition/read-value.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'

/** How a sensor is polled, and what its observations become. */
export interface SensorOptions {
  /** The delay from the end of a poll to the next one, such as `30s`, or milliseconds; default: `30s`. */
  readonly every?: string | number | undefined
  /** The time limit of a poll; default: `60s`. */
  readonly timeout?: string | number | undefined
  /** The IANA zone in which days are counted; default: `UTC`. */
  readonly timezone?: string | undefined
  /** What makes two observations the same, and how long they are remembered; default: their key, forever. */
  readonly dedupe?: DedupeOptions | undefined
  /** Whether runs of several observations may overlap (`allow`, the default) or run one after the other (`queue-all`). */
  readonly overlap?: 'allow' | 'queue-all' | undefined
  /** Overrides the job's. @minimum -1000000 @maximum 1000000 */
  readonly priority?: number | undefined
  /** If false, it is defined but not polled. */
  readonly enabled?: boolean | undefined
  /** Pauses the sensor after this many failed polls in a row, until a person resumes it; default: never. @minimum 1 @maximum 10000 */
  readonly pauseAfter?: number | undefined
  /** Calendars in which it is polled, or not polled. */
  readonly calendar?: CalendarOptions | undefined
  /** Periods in which it is never polled. */
  readonly blackouts?: readonly BlackoutInput[] | undefined
  /** Additional names of its runs; at most 16. The key of the observation is the label `key`. */
  readonly labels?: Readonly<Record<string, string>> | undefined
}

/** The scope within which an observation is acted on once. */
export interface DedupeOptions {
  /** The key alone, or the key and the partition; default: `key`. */
  readonly by?: 'key' | 'key-and-partition' | undefined
  /** How long an observation is remembered, such as `7d`; default: forever. */
  readonly for?: string | number | undefined
}

/** A sensor as a definition writes it: how it is polled, and the job that it triggers. */
export interface SensorInput extends SensorOptions {
  /** The name of the job; every observation becomes a run of it. */
  readonly job: string
}

const everyBounds = { min: 1, max: MAX_DURATION_MS, allowed: 'from 1ms to 36525d' }
const timeoutBounds = { min: 1, max: 86_400_000, allowed: 'from 1ms to 24h' }

/** A delivery is accepted up to five minutes before and after its time: if it were forgotten within these ten minutes, it could be replayed. */
const replayBounds = { min: 600_001, max: MAX_DURATION_MS, allowed: 'more than 10m, up to 36525d' }

/** The readers of the options that every sensor has. */
function tableFor(type: string) {
  const dedupe = {
    by: (value: unknown, place: Place) => readChoice(value, ['key', 'key-and-partition'], place),
    for: duration(type === 'webhook' ? replayBounds : everyBounds, undefined),
  }
  return {
    job: required(readJobName),
    every: duration(everyBounds, 30_000),
    timeout: duration(timeoutBounds, 60_000),
    timezone: (value: unknown, place: Place) => readZone(value, place) ?? 'UTC',
    dedupe: (value: unknown, place: Place) => readTable(value ?? {}, dedupe, place),
    // An observation must not be lost because another run is unfinished.
    overlap: choice('allow', 'queue-all'),
    priority: readPriority,
    enabled: flag(true),
    pauseAfter: (value: unknown, place: Place) => readWhole(value, { min: 1, max: 10_000 }, place),
    labels: (value: unknown, place: Place) => (value === undefined ? undefined : readLabels(value, place)),
    // Read with the others below: their days are days of the zone.
    calendar: (value: unknown) => value,
    blackouts: (value: unknown) => value,
  } satisfies Record<keyof SensorInput, unknown>
}

/** The options that every sensor has. */
export const sensorOptionNames: readonly string[] = Object.keys(tableFor(''))

/** What only code can write: a sensor as an object, and what to do as a function. */
export const codeOptionNames: readonly string[] = ['sensor', 'config', 'isolate', 'onTrigger', 'runs']

/** Where a config has sensors. */
export const sensorOrigin: TriggerOrigin = { section: 'sensors' }

/** The definitions of a sensor: its trigger, and the job of `onTrigger`. */
export interface SensorDefinition {
  readonly trigger: Trigger
  readonly job?: JobDefinition | undefined
}

/** Reads how a sensor is polled and what it triggers: exactly one of `job` and `onTrigger`. */
export function readSensorDefinition(
  {
    name,
    type,
    input,
    calendars,
  }: {
    readonly name: unknown
    readonly type: unknown
    readonly input: Written
    readonly calendars?: Calendars | undefined
  },
  place: Place,
): SensorDefinition | undefined {
  const { sensor, isolate, job, onTrigger, runs } = input
  if (sensor !== undefined && !isObject(sensor))
    fault(
      within(place, 'sensor'),
      `${shown(sensor)} is not a sensor`,
      'an object with init and poll, in code',
    )
  if (isolate !== undefined && !(isObject(sensor) && typeof sensor['module'] === 'string'))
    fault(within(place, 'isolate'), 'only a module can be isolated: sensor: { module: … }')
  if (job !== undefined && onTrigger !== undefined)
    fault(within(place, 'job'), 'job and onTrigger cannot be combined', toDo)
  if (runs !== undefined && onTrigger === undefined)
    fault(within(place, 'runs'), 'it is allowed only with onTrigger; a job has its own options')
  const own = onTrigger === undefined ? undefined : readOnTrigger({ name, onTrigger, runs }, place)
  const polling = Object.fromEntries(sensorOptionNames.map((option) => [option, input[option]]))
  const jobName = onTrigger === undefined ? (isObject(job) ? job['name'] : job) : name
  const trigger = readSensor(
    { name, type: typeOf(type, sensor), input: { ...polling, job: jobName }, calendars },
    place,
  )
  return trigger === undefined ? undefined : { trigger, job: own }
}

const toDo = 'exactly one of job and onTrigger'

function typeOf(type: unknown, sensor: unknown): string {
  const given = isObject(sensor) && 'sensor' in sensor ? sensor['type'] : type
  return typeof given === 'string' ? given : 'custom'
}

/** A sensor may be an object of a class. */
function isObject(value: unknown): value is Written {
  return typeof value === 'object' && value !== null
}

/** `onTrigger` becomes a job with the name of the sensor. */
function readOnTrigger(
  { name, onTrigger, runs }: { readonly name: unknown; readonly onTrigger: unknown; readonly runs: unknown },
  place: Place,
): JobDefinition | undefined {
  if (typeof onTrigger !== 'function')
    return fault(within(place, 'onTrigger'), `${shown(onTrigger)} is not a function`, 'a function, in code')
  const handler = (run: { readonly partition?: string }): unknown => onTrigger(run.partition ?? '', run)
  if (runs !== undefined && !isMap(runs))
    return fault(within(place, 'runs'), `a map of options was expected, not ${shown(runs)}`)
  const job = readJob({ name, input: { retry: 3, ...runs, handler } }, within(place, 'runs'))
  return job === undefined ? undefined : { job, handler }
}

/** The frozen trigger of a sensor of a type; throws one error with all its faults. */
export function defineSensor(name: string, type: string, input: SensorInput): Trigger {
  const place = placeOf()
  const trigger = readSensor({ name, type, input }, place)
  refuse(`sensor ${shown(name)}`, place.faults)
  return trigger as Trigger
}

/** The frozen trigger of a sensor, or undefined if there are faults, which are added to the place. */
function readSensor(
  {
    type,
    ...written
  }: {
    readonly name: unknown
    readonly type: string
    readonly input: unknown
    readonly calendars?: Calendars | undefined
  },
  place: Place,
): Trigger | undefined {
  const before = place.faults.length
  const name = readName(written.name, place)
  const read = readTable(written.input, tableFor(type), place)
  const { calendar, blackouts, ...rest } = read
  const rules = readRules(
    { calendar, blackouts },
    { timezone: rest.timezone, calendars: written.calendars },
    place,
  )
  if (rules?.onExcluded !== undefined) checkMoved({ kind: 'a sensor' }, place)
  if (isMap(written.input))
    noteContradictions(written.input, { type, everyMs: rest.every, forMs: rest.dedupe.for }, place)
  if (name === undefined || place.faults.length > before) return undefined
  const { job, every, timeout, timezone, dedupe, pauseAfter, ...policies } = rest
  const polling = { everyMs: every, timeoutMs: timeout, timezone }
  return frozen({
    name,
    job,
    schedule: {
      kind: 'sensor',
      type,
      ...polling,
      dedupeMs: dedupe.for,
      dedupeBy: dedupe.by,
      pauseAfter,
      ...(rules === undefined ? {} : { calendar: rules }),
    },
    payload: undefined,
    partition: undefined,
    catchUp: { mode: 'all', maxAgeMs: undefined, maxRuns: 100, graceMs: 60_000 },
    jitterMs: 0,
    spreadMs: 0,
    ...policies,
  })
}

/** The options of polled sensors only. */
const pollingNames = ['every', 'timeout', 'pauseAfter', 'calendar', 'blackouts'] as const

/** Reports options that contradict each other. Each fault has the place of one option and names the other. */
function noteContradictions(
  input: Written,
  {
    type,
    everyMs,
    forMs,
  }: { readonly type: string; readonly everyMs: number; readonly forMs: number | undefined },
  place: Place,
): void {
  if (type === 'webhook')
    for (const name of pollingNames)
      if (input[name] !== undefined)
        fault(within(place, name), 'it contradicts `type`: a webhook is not polled', 'leave it out')
  if (type === 'webhook' || forMs === undefined || forMs >= everyMs) return
  fault(
    ['dedupe', 'for'].reduce(within, place),
    `${formatDuration(forMs)} contradicts \`every\` (${formatDuration(everyMs)}): what was found would be forgotten before the next poll, and run again`,
    `at least ${formatDuration(everyMs)}`,
  )
}

function readJobName(value: unknown, place: Place): string | undefined {
  return value === undefined ? fault(place, 'nothing to start is given', toDo) : readName(value, place)
}
