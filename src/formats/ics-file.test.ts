import { expect, it } from 'vitest'
import { placeOf } from '../kernel/definition/faults.js'
import { readIcs } from './ics-file.js'

function event(...lines: readonly string[]): string {
  return ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', ...lines, 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n')
}

function read(text: string) {
  const place = placeOf()
  const spec = readIcs(text, 'x.ics', place)
  return { spec, faults: place.faults.map(({ message }) => message) }
}

const day = (text: string): number => Date.parse(`${text}Z`.replace(/^(\d{4}-\d\d-\d\d)Z$/, '$1T00:00Z'))
const daysOf = (text: string): string[] =>
  (read(text).spec?.local ?? []).map(([from]) => new Date(from).toISOString().slice(0, 10))

it('a day, several days, folded lines and parts inside an event', () => {
  const text = event(
    'SUMMARY:a long',
    '  name',
    'DTSTART;VALUE=DATE:20261224',
    'BEGIN:VALARM',
    'TRIGGER:-PT1H',
    'END:VALARM',
    'DTEND;VALUE=DATE:20261227',
  )
  expect(read(text)).toEqual({ spec: { local: [[day('2026-12-24'), day('2026-12-27')]] }, faults: [] })
})

it('times: floating ones are local, those with Z or a zone are instants', () => {
  const floating = event('DTSTART:20260601T220000', 'DTEND:20260602T040000')
  expect(read(floating).spec).toEqual({ local: [[day('2026-06-01T22:00'), day('2026-06-02T04:00')]] })
  const utc = event('DTSTART:20260601T220000Z', 'DURATION:PT90M')
  expect(read(utc).spec).toEqual({ instants: [[day('2026-06-01T22:00'), day('2026-06-01T23:30')]] })
  const berlin = event('DTSTART;TZID=Europe/Berlin:20260601T220000', 'DURATION:P1D')
  expect(read(berlin).spec).toEqual({ instants: [[day('2026-06-01T20:00'), day('2026-06-02T20:00')]] })
})

it.each([
  ['FREQ=YEARLY;COUNT=3', '20261225', ['2026-12-25', '2027-12-25', '2028-12-25']],
  ['FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=3', '20261126', ['2026-11-26', '2027-11-25', '2028-11-23']],
  ['FREQ=MONTHLY;BYDAY=-1FR;COUNT=2', '20260130', ['2026-01-30', '2026-02-27']],
  ['FREQ=MONTHLY;BYMONTHDAY=-1;UNTIL=20260331', '20260131', ['2026-01-31', '2026-02-28', '2026-03-31']],
  [
    'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;COUNT=4',
    '20260105',
    ['2026-01-05', '2026-01-07', '2026-01-19', '2026-01-21'],
  ],
  ['FREQ=DAILY;INTERVAL=3;COUNT=2', '20260105', ['2026-01-05', '2026-01-08']],
])('the rule %s', (rule, start, days) => {
  expect(daysOf(event(`DTSTART;VALUE=DATE:${start}`, `RRULE:${rule}`))).toEqual(days)
})

it('leaves out exceptions and cancelled events, and ends rules without an end in 2100', () => {
  const yearly = event('DTSTART;VALUE=DATE:20260101', 'RRULE:FREQ=YEARLY', 'EXDATE;VALUE=DATE:20270101')
  expect(daysOf(yearly)).toHaveLength(74)
  expect(read(event('DTSTART;VALUE=DATE:20260101', 'STATUS:CANCELLED')).spec).toEqual({})
})

it.each([
  ['hello', /is not an iCalendar file/],
  [event('SUMMARY:x'), /x\.ics:2: the event has no DTSTART/],
  [event('DTSTART;VALUE=DATE:20260230'), /x\.ics:2: .*day/],
  [event('DTSTART:20260101', 'DTEND:20251231'), /ends before it starts/],
  [event('DTSTART:20260101', 'RRULE:FREQ=YEARLY;BYWEEKNO=20'), /RRULE part BYWEEKNO is not supported/],
  [event('DTSTART:20260101', 'RRULE:FREQ=HOURLY'), /FREQ HOURLY is not supported/],
  [event('DTSTART:20260101', 'RRULE:FREQ=DAILY'), /repeats more than 10000 times/],
  [event('DTSTART;TZID=Mars/Base:20260101T000000'), /Mars/],
])('%j is refused, with its line', (text, message) => {
  const { spec, faults } = read(text)
  expect(spec).toBeUndefined()
  expect(faults.join()).toMatch(message)
})
