import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aDue, minute, t0 } from '../../../test/fixtures/due-trigger.js'
import { cronSchedule } from '../../time/cron/schedule.js'
import { DAY_MS, HOUR_MS } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'
import type { Schedule } from '../../time/schedule.js'
import { zoneOf } from '../../time/zone.js'
import { placeOf } from '../definition/faults.js'
import { planTick } from '../tick/tick.js'
import { nextLook, scheduleOf, type ScheduleSpec } from '../trigger/schedule.js'
import { exclusionAt, membership, type CalendarRules, type CalendarSpec } from './calendar.js'
import { readCalendar, type CalendarInput } from './define-calendar.js'
import { movedSchedule } from './moved-schedule.js'

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'America/Santiago', 'Australia/Lord_Howe']

function calendar(input: CalendarInput, known: ReadonlyMap<string, CalendarSpec> = new Map()): CalendarSpec {
  const place = placeOf()
  const read = readCalendar({ name: 'c', input }, { known, readIcs: () => undefined }, place)
  expect(place.faults).toEqual([])
  return read?.[1] ?? {}
}

/** Whether a local date and minute of the day is in a calendar, read from the text that Intl writes. */
function naive(input: CalendarInput, timezone: string, at: Instant): boolean {
  const text = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'short',
  }).format(at)
  const [date = '', time = ''] = text.split(' ')
  const weekday = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][new Date(date).getUTCDay()]
  return (
    [input.days ?? []].flat().some((day) => day === date || day === date.slice(5)) ||
    [input.weekdays ?? []].flat().some((day) => day === weekday) ||
    (input.ranges ?? []).some(({ from, to }) =>
      from.includes('T') ? from <= `${date}T${time}` && `${date}T${time}` < to : from <= date && date <= to,
    )
  )
}

const input = fc.record({
  days: fc.subarray(['2026-03-29', '2026-10-25', '12-25', '02-29', '2026-06-01']),
  weekdays: fc.subarray(['sat', 'sun', 'wed'] as const),
  ranges: fc.subarray([
    { from: '2026-03-27', to: '2026-03-30' },
    { from: '2026-07-01T12:00', to: '2026-07-02T06:30' },
  ]),
})
const someInput = input.filter(
  ({ days, weekdays, ranges }) => days.length + weekdays.length + ranges.length > 0,
)
const zone = fc.constantFrom(...zones)
const at2026 = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2027, 0) }).map((ms) => ms - (ms % minute))

describe('a calendar', () => {
  it('has the days and times of the zone, like a naive reading of local time', () => {
    fc.assert(
      fc.property(someInput, zone, at2026, (given, timezone, at) => {
        // Clocks that go back repeat local times: a naive reading cannot tell the passes apart.
        const around = zoneOf(timezone)
        fc.pre(around.offsetAt(at - 2 * HOUR_MS) === around.offsetAt(at + 2 * HOUR_MS))
        expect(membership(calendar(given), around, at).isIn).toBe(naive(given, timezone, at))
      }),
      { numRuns: 500 },
    )
  })

  it('returns until when its answer is valid', () => {
    fc.assert(
      fc.property(
        someInput,
        zone,
        at2026,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (given, name, at, part) => {
          const spec = calendar(given)
          const { isIn, untilAt } = membership(spec, zoneOf(name), at)
          expect(untilAt).toBeGreaterThan(at)
          const between = Math.floor(at + (Math.min(untilAt, at + 40 * DAY_MS) - 1 - at) * part)
          expect(membership(spec, zoneOf(name), between).isIn).toBe(isIn)
        },
      ),
    )
  })

  it('has windows after each match and the times of other calendars, without excepted times', () => {
    const office = calendar({ windows: [{ cron: '0 9 * * 1-5', for: '8h' }] })
    const known = new Map([
      ['office', office],
      ['lunch', calendar({ windows: [{ cron: '0 12 * * *', for: '1h' }] })],
    ])
    const spec = calendar({ calendars: 'office', weekdays: 'sat', except: 'lunch' }, known)
    const isIn = (text: string): boolean => membership(spec, zoneOf('UTC'), Date.parse(text)).isIn
    expect(
      [
        '2026-01-05T08:59Z',
        '2026-01-05T09:00Z',
        '2026-01-05T12:30Z',
        '2026-01-05T16:59Z',
        '2026-01-05T17:00Z',
      ].map(isIn),
    ).toEqual([false, true, false, true, false])
    expect(['2026-01-10T03:00Z', '2026-01-10T12:00Z', '2026-01-11T03:00Z'].map(isIn)).toEqual([
      true,
      false,
      false,
    ])
  })
})

const rules = fc.record({
  timezone: zone,
  exclude: fc.constantFrom(
    [{ name: 'weekend', times: { weekdays: [0, 6] } }],
    [
      { name: 'spring', times: { local: [[Date.UTC(2026, 2, 27), Date.UTC(2026, 3, 3)]] as const } },
      { name: 'weekend', times: { weekdays: [0, 6] } },
    ],
  ),
})

/** The instants of 2026, with excluded ones moved to allowed days, one by one. */
function naiveMoved(base: Schedule, given: CalendarRules, window: readonly [Instant, Instant]): Instant[] {
  const around = zoneOf(given.timezone)
  const isExcluded = (at: Instant): boolean => exclusionAt(given, at).by !== undefined
  const found = new Set<Instant>()
  for (let at = base.next(window[0] - 40 * DAY_MS); at !== undefined && at <= window[1]; at = base.next(at)) {
    found.add(at)
    if (!isExcluded(at)) continue
    const local = around.toLocal(at)
    for (let days = 1; days < 40; days++) {
      const resolved = around.resolve(local + days * DAY_MS)
      const target =
        resolved.kind === 'gap' ? resolved.jumpAt : resolved.kind === 'overlap' ? resolved.first : resolved.at
      if (isExcluded(target)) continue
      found.add(target)
      break
    }
  }
  return [...found].filter((at) => at > window[0] && at <= window[1]).toSorted((a, b) => a - b)
}

describe('a schedule that moves excluded instants to the next allowed day', () => {
  const expressions = ['0 9 * * *', '30 2 * * *', '15,45 23 * * 0', '0 9 1 * *', '0 */6 28-31 3 *']

  it('has the instants that a naive walk finds, forwards and backwards', () => {
    fc.assert(
      fc.property(rules, fc.constantFrom(...expressions), at2026, (given, expression, from) => {
        const base = cronSchedule(expression, { timezone: given.timezone })
        const moved = movedSchedule(base, { ...given, onExcluded: 'next-day' })
        const until = from + 45 * DAY_MS
        const expected = naiveMoved(base, given, [from, until])
        const ahead: Instant[] = []
        for (let at = moved.next(from); at !== undefined && at <= until; at = moved.next(at)) ahead.push(at)
        expect(ahead).toEqual(expected)
        const back: Instant[] = []
        for (let at = moved.previous(until + 1); at !== undefined && at > from; at = moved.previous(at))
          back.unshift(at)
        expect(back).toEqual(expected)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a tick with calendars and blackouts', () => {
  const all = { mode: 'all', maxAgeMs: undefined, maxRuns: 10_000, graceMs: 0 } as const
  const allRules: CalendarRules = {
    timezone: 'Europe/Berlin',
    blackouts: [{ note: 'backup', times: { windows: [{ cron: '0 3 * * *', forMs: 2 * HOUR_MS }] } }],
    exclude: [{ name: 'weekend', times: { weekdays: [0, 6] } }],
  }
  const schedule = (given: CalendarRules): ScheduleSpec => ({
    kind: 'interval',
    everyMs: 30 * minute,
    anchorAt: t0,
    calendar: given,
  })

  it('gives each due instant one run, or the reason of the first rule that matches', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 20 }), (days, from) => {
        const due = aDue({ schedule: schedule(allRules), catchUp: all }, { cursorAt: t0 + from * HOUR_MS })
        const now = due.cursorAt + days * DAY_MS
        const { runs, ranges } = planTick(due, now)
        const ran = new Set(runs.map(({ dueAt }) => dueAt))
        const instants = scheduleOf(due.trigger.schedule)
        for (let at = instants.next(due.cursorAt); at !== undefined && at <= now; at = instants.next(at)) {
          const over = ranges.filter(({ firstAt, lastAt }) => firstAt <= at && at <= lastAt)
          const { by } = exclusionAt(allRules, at)
          expect([ran.has(at), over.map(({ rule }) => rule)]).toEqual([
            by === undefined,
            by === undefined ? [] : [by.rule],
          ])
        }
      }),
      { numRuns: 8 },
    )
  })

  it('writes one row for an excluded year, and is due for a look after it', () => {
    const year = { name: 'closed', times: { local: [[Date.UTC(2026, 0, 6), Date.UTC(2027, 0, 1)]] as const } }
    const rulesOfYear: CalendarRules = { timezone: 'UTC', exclude: [year] }
    const due = aDue({ schedule: schedule(rulesOfYear), catchUp: all })
    const reopened = Date.UTC(2027, 0, 1)
    const tick = planTick(due, t0 + 23.5 * HOUR_MS)
    expect(tick.nextAt).toBe(reopened)
    const later = planTick({ ...due, cursorAt: tick.cursorAt }, reopened)
    expect(later.ranges).toMatchObject([
      {
        reason: 'calendar',
        rule: 'calendar:exclude',
        detail: 'closed',
        firstAt: Date.UTC(2026, 0, 6),
        lastAt: reopened - 30 * minute,
      },
    ])
    expect(later.runs.map(({ dueAt }) => dueAt)).toEqual([reopened])
  })

  it('moves the instants of Saturday and Sunday to one run on Monday', () => {
    const spec: ScheduleSpec = {
      kind: 'cron',
      expression: '0 9 * * 6,0',
      timezone: 'UTC',
      calendar: {
        timezone: 'UTC',
        exclude: [{ name: 'weekend', times: { weekdays: [0, 6] } }],
        onExcluded: 'next-day',
      },
    }
    const due = aDue({ schedule: spec, catchUp: all }, { cursorAt: t0 + DAY_MS })
    const tick = planTick(due, t0 + 7.5 * DAY_MS)
    expect(tick.runs.map(({ dueAt }) => dueAt)).toEqual([t0 + 7 * DAY_MS + 9 * HOUR_MS])
    expect(tick.ranges).toMatchObject([
      { rule: 'calendar:next-day', detail: 'weekend', firstAt: t0 + 5 * DAY_MS + 9 * HOUR_MS },
    ])
    expect(tick.nextAt).toBe(t0 + 14 * DAY_MS + 9 * HOUR_MS)
  })

  it('is looked at again within a year if no time is allowed', () => {
    const never: CalendarRules = {
      timezone: 'UTC',
      exclude: [{ name: 'all', times: { weekdays: [0, 1, 2, 3, 4, 5, 6] } }],
    }
    const spec = schedule(never)
    const at = nextLook(spec, scheduleOf(spec), t0) as number
    expect(at - t0).toBeGreaterThan(365 * DAY_MS)
    expect(at - t0).toBeLessThan(368 * DAY_MS)
  })
})
