import { assertFires } from '../../time/cron/schedule.js'
import { dstPolicies, type DstPolicy } from '../../time/cron/dst.js'
import { MAX_DURATION_MS } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'
import { parseLocalTime } from '../../time/local-time.js'
import { zoneOf } from '../../time/zone.js'
import { fault, shown, within, type Place } from '../definition/faults.js'
import { readInstant } from '../definition/read-instant.js'
import type { DefinitionDefaults } from '../definition/definitions.js'
import {
  readChoice,
  readDuration,
  readFlag,
  readWhole,
  timed,
  type Written,
} from '../definition/read-value.js'
import { checkMoved, readRules, rulesOptionNames } from '../calendar/define-rules.js'
import { scheduleOf, type ScheduleSpec } from './schedule.js'

/** The options that say when a trigger is due. */
export const scheduleOptionNames = [
  'cron',
  'timezone',
  'dst',
  'every',
  'after',
  'anchor',
  'immediate',
  'at',
  'start',
  'end',
  'count',
  ...rulesOptionNames,
] as const

type ScheduleOption = (typeof scheduleOptionNames)[number]
/** The options of which exactly one says when a trigger is due. */
export const scheduleKinds = ['cron', 'every', 'at'] as const

type Kind = (typeof scheduleKinds)[number]

/** Which options can be used with `cron`, `every` and `at`. */
const optionsOf: Readonly<Record<Kind, readonly ScheduleOption[]>> = {
  cron: ['timezone', 'dst', 'start', 'end', 'count', ...rulesOptionNames],
  every: ['timezone', 'after', 'anchor', 'immediate', 'start', 'end', 'count', ...rulesOptionNames],
  at: ['timezone', ...rulesOptionNames],
}

/** Reads a schedule. An interval without a written anchor has none yet. The zone is for times without an offset. */
export function readSchedule(
  input: Written,
  place: Place,
  { timezone: zone = 'UTC', calendars }: Pick<DefinitionDefaults, 'timezone' | 'calendars'> = {},
): ScheduleSpec | undefined {
  const chosen = scheduleKinds.filter((kind) => input[kind] !== undefined)
  const [kind, second] = chosen
  if (kind === undefined) return fault(place, 'it has no schedule', 'exactly one of cron, every, at')
  if (second !== undefined) {
    return fault(place, `${chosen.join(' and ')} cannot be combined`, 'exactly one of cron, every, at')
  }
  refuseForeignOptions(input, kind, place)
  const spec = readers[kind](input, zone, place)
  const named = input['timezone'] ?? zone
  const timezone = spec?.kind === 'cron' ? spec.timezone : typeof named === 'string' ? named : 'UTC'
  const calendar = readRules(input, { timezone, calendars }, place)
  if (spec === undefined || calendar === undefined) return spec
  if (calendar.onExcluded !== undefined) checkMoved(spec, place)
  return { ...spec, calendar }
}

const readers = { cron: readCron, every: readInterval, at: readOnce } as const

function refuseForeignOptions(input: Written, kind: Kind, place: Place): void {
  for (const option of scheduleOptionNames) {
    if (option === kind || input[option] === undefined || optionsOf[kind].includes(option)) continue
    const owners = scheduleKinds.filter((owner) => optionsOf[owner].includes(option))
    fault(within(place, option), `it cannot be used with ${kind}`, `only with ${owners.join(' or ')}`)
  }
  // An interval is the same in every zone, but the days of its calendars are not.
  const hasDays = rulesOptionNames.some((option) => input[option] !== undefined)
  if (kind === 'every' && input['timezone'] !== undefined && !hasDays)
    fault(
      within(place, 'timezone'),
      'it cannot be used with every',
      'only with cron or at, or with a calendar',
    )
}

function readCron(input: Written, zone: string, place: Place): ScheduleSpec | undefined {
  const before = place.faults.length
  const expression = input['cron']
  const timezone = readZone(input['timezone'] ?? zone, within(place, 'timezone'))
  const dst = readChoice(input['dst'], policyNames, within(place, 'dst'))
  const bounds = readBounds(input, timezone ?? 'UTC', place)
  if (typeof expression !== 'string') {
    return fault(
      within(place, 'cron'),
      `${shown(expression)} is not a cron expression`,
      'a text such as 0 2 * * *',
    )
  }
  // A wrong zone must not hide a wrong expression, so UTC replaces it.
  timed(within(place, 'cron'), () => assertFires(expression, { timezone: timezone ?? 'UTC', dst }))
  if (place.faults.length > before || timezone === undefined) return undefined
  const spec: ScheduleSpec = { kind: 'cron', expression, timezone, ...(dst === undefined ? {} : { dst }) }
  return hasBounds(bounds) ? firing({ ...spec, ...bounds }, place) : spec
}

const policyNames = Object.keys(dstPolicies) as DstPolicy[]

function hasBounds({ startAt, endAt, count }: Bounds): boolean {
  return startAt !== undefined || endAt !== undefined || count !== undefined
}

/** Bounds without any due instant are a mistake that nobody would notice otherwise. */
function firing(spec: ScheduleSpec, place: Place): ScheduleSpec | undefined {
  if (scheduleOf(spec).next(-Infinity) !== undefined) return spec
  return fault(
    within(place, spec.endAt === undefined ? 'start' : 'end'),
    'no instant is due between start and end',
  )
}

const everyBounds = { min: 100, max: MAX_DURATION_MS, allowed: 'from 100ms to 36525d' }

function readInterval(input: Written, zone: string, place: Place): ScheduleSpec | undefined {
  const before = place.faults.length
  const everyMs = readDuration(input['every'], everyBounds, within(place, 'every'))
  const after = readChoice(input['after'], ['finish'], within(place, 'after'))
  const anchorAt = readOptional(input['anchor'], zone, within(place, 'anchor'))
  const immediate = readFlag(input['immediate'], within(place, 'immediate'))
  readZone(input['timezone'], within(place, 'timezone'))
  const bounds = readBounds(input, zone, place)
  if (after === 'finish' && bounds.count !== undefined)
    fault(
      within(place, 'count'),
      'an interval from the end of a run has no fixed number of due times',
      'leave it out, or leave out after',
    )
  if (after === 'finish' && anchorAt !== undefined) {
    fault(
      within(place, 'anchor'),
      'an interval from the end of a run has no fixed grid',
      'leave it out, or leave out after',
    )
  }
  if (place.faults.length > before || everyMs === undefined) return undefined
  const begins = immediate === undefined ? {} : { immediate }
  if (after === 'finish') return { kind: 'after-finish', everyMs, ...begins, ...bounds }
  return { kind: 'interval', everyMs, ...(anchorAt === undefined ? {} : { anchorAt }), ...begins, ...bounds }
}

function readOnce(input: Written, zone: string, place: Place): ScheduleSpec | undefined {
  const before = place.faults.length
  const timezone = readZone(input['timezone'] ?? zone, within(place, 'timezone'))
  const at = readOptional(input['at'], timezone ?? 'UTC', within(place, 'at'))
  if (place.faults.length > before || at === undefined) return undefined
  if (input['timezone'] !== undefined && hasOwnOffset(input['at'])) {
    return fault(within(place, 'timezone'), 'at is an exact instant, so a zone has no effect')
  }
  return { kind: 'once', at }
}

function hasOwnOffset(at: unknown): boolean {
  return typeof at !== 'string' || at.includes('.') || parseLocalTime(at).offsetMs !== undefined
}

/** The zone in its usual spelling; default: UTC, so that no setting of a host matters. */
export function readZone(value: unknown, place: Place): string | undefined {
  return value === undefined ? 'UTC' : timed(place, () => zoneOf(value as string).name)
}

interface Bounds {
  startAt?: Instant
  endAt?: Instant
  count?: number
}

function readBounds(input: Written, timezone: string, place: Place): Bounds {
  const count = readWhole(input['count'], { min: 1, max: 100_000 }, within(place, 'count'))
  const startAt = readOptional(input['start'], timezone, within(place, 'start'))
  const endAt = readOptional(input['end'], timezone, within(place, 'end'))
  if (startAt !== undefined && endAt !== undefined && endAt < startAt) {
    fault(within(place, 'end'), `${shown(input['end'])} lies before the start`)
  }
  return {
    ...(startAt === undefined ? {} : { startAt }),
    ...(endAt === undefined ? {} : { endAt }),
    ...(count === undefined ? {} : { count }),
  }
}

function readOptional(value: unknown, timezone: string, place: Place): Instant | undefined {
  return value === undefined ? undefined : readInstant(value, place, timezone)
}
