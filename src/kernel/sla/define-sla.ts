import { fault, shown, within, type Place } from '../definition/faults.js'
import { readDuration, readOptions, type Written } from '../definition/read-value.js'
import { readZone } from '../trigger/define-schedule.js'
import { MAX_DURATION_MS } from '../../time/duration.js'
import type { Sla } from './sla.js'

const bounds = { min: 1, max: MAX_DURATION_MS, allowed: 'from 1ms to 36525d' }
const ageBounds = { min: 1000, max: MAX_DURATION_MS, allowed: 'from 1s to 36525d' }

const runPromises = ['startedWithin', 'finishedWithin', 'finishedBy', 'notOlderThan'] as const
const partitionPromises = ['madeWithin', 'madeBy'] as const

/** Reads the option `sla`; records faults at the place. */
export function readSla(
  value: unknown,
  place: Place,
  { hasPartitions = false, timezone }: { hasPartitions?: boolean; timezone?: string | undefined } = {},
): Sla | undefined {
  if (value === undefined) return undefined
  const promises: readonly string[] = hasPartitions ? [...runPromises, ...partitionPromises] : runPromises
  const input = readOptions(value, [...promises, 'timezone'], place)
  if (input === undefined) return undefined
  const at = (name: string): Place => within(place, name)
  const times = {
    startedWithinMs: readDuration(input['startedWithin'], bounds, at('startedWithin')),
    finishedWithinMs: readDuration(input['finishedWithin'], bounds, at('finishedWithin')),
    finishedBy: readTimeOfDay(input['finishedBy'], at('finishedBy')),
    notOlderThanMs: readDuration(input['notOlderThan'], ageBounds, at('notOlderThan')),
    madeWithinMs: readDuration(input['madeWithin'], bounds, at('madeWithin')),
    madeBy: readTimeOfDay(input['madeBy'], at('madeBy')),
    timezone: readTimezone(input, at('timezone')) ?? zoneFor(input, timezone),
  }
  if (promises.every((name) => input[name] === undefined))
    return fault(place, 'it promises nothing', promises.join(', '))
  noteOrder(input, times, place)
  return Object.fromEntries(Object.entries(times).filter(([, one]) => one !== undefined))
}

function zoneFor({ finishedBy, madeBy }: Written, timezone: string | undefined): string | undefined {
  return finishedBy === undefined && madeBy === undefined ? undefined : timezone
}

function readTimezone(input: Written, place: Place): string | undefined {
  const value = input['timezone']
  if (value === undefined) return undefined
  if (input['finishedBy'] === undefined && input['madeBy'] === undefined)
    return fault(
      place,
      `${shown(value)} has no effect without a time of day`,
      'only with finishedBy or madeBy',
    )
  return readZone(value, place)
}

function readTimeOfDay(value: unknown, place: Place): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string' && /^([01]\d|2[0-3]):[0-5]\d$/.test(value)) return value
  return fault(place, `${shown(value)} is not a time of day`, 'HH:MM, such as "07:30", in quotes')
}

function noteOrder(input: Written, { startedWithinMs, finishedWithinMs }: Sla, place: Place): void {
  if (startedWithinMs === undefined || finishedWithinMs === undefined) return
  if (finishedWithinMs > startedWithinMs) return
  const message = `${shown(input['finishedWithin'])} contradicts \`startedWithin\` (${shown(input['startedWithin'])}): a run may not have begun by then`
  fault(within(place, 'finishedWithin'), message, 'longer than startedWithin')
}
