import { describe, expect, it } from 'vitest'
import { refusalOf } from '../../../test/time/refusal.js'
import { formatInstant, parseInstant } from '../instant.js'
import { formatLocal } from '../local-time.js'
import { assertFires, cronSchedule } from './schedule.js'

/** An expression, the UTC instant to start after, and the expected instants. */
type Row = readonly [expression: string, after: string, ...expected: string[]]

function itGives(rows: readonly Row[]): void {
  it.each(rows.map((row) => [...row] as const))('%s after %s', (expression, after, ...expected) => {
    expect(following(expression, 'UTC', after, expected.length)).toEqual(expected)
  })
}

describe('N1: five fields, or six with seconds first', () => {
  itGives([
    ['0 9 * * *', '2026-01-05T08:59:59Z', '2026-01-05T09:00:00Z', '2026-01-06T09:00:00Z'],
    ['0 9 * * *', '2026-01-05T09:00:00Z', '2026-01-06T09:00:00Z'],
    [
      '0 */6 * * *',
      '2026-01-05T00:00:00Z',
      '2026-01-05T06:00:00Z',
      '2026-01-05T12:00:00Z',
      '2026-01-05T18:00:00Z',
    ],
    ['0 0 1 * *', '2026-01-31T12:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'],
    ['* * * * * *', '2026-12-31T23:59:58.500Z', '2026-12-31T23:59:59Z', '2027-01-01T00:00:00Z'],
    ['15 0 9 * * *', '2026-01-05T09:00:00Z', '2026-01-05T09:00:15Z'],
  ])
})

describe('days', () => {
  itGives([
    // A list that reaches past February must not lose 1 March.
    ['0 0 1,29,30,31 * *', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z', '2026-03-29T00:00:00Z'],
    ['0 0 31 * *', '2026-01-31T00:00:00Z', '2026-03-31T00:00:00Z', '2026-05-31T00:00:00Z'],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z'],
    ['0 0 29 2 *', '2096-02-29T00:00:00Z', '2104-02-29T00:00:00Z'],
    ['0 0 29 2 1', '2026-02-20T00:00:00Z', '2026-02-23T00:00:00Z', '2027-02-01T00:00:00Z'],
    [
      '0 0 13 * 5',
      '2026-02-01T00:00:00Z',
      '2026-02-06T00:00:00Z',
      '2026-02-13T00:00:00Z',
      '2026-02-20T00:00:00Z',
    ],
    ['0 0 L * *', '2028-01-31T00:00:00Z', '2028-02-29T00:00:00Z', '2028-03-31T00:00:00Z'],
    ['0 0 1,L 2 *', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-02-28T00:00:00Z'],
    // 15 August 2026 is a Saturday, 15 November a Sunday.
    ['0 0 15W 8,11 *', '2026-01-01T00:00:00Z', '2026-08-14T00:00:00Z', '2026-11-16T00:00:00Z'],
    // 1 August 2026 is a Saturday: the nearest workday within the month is Monday the 3rd.
    ['0 0 1W 8 *', '2026-01-01T00:00:00Z', '2026-08-03T00:00:00Z'],
    // 31 May 2026 is a Sunday: the nearest workday within the month is Friday the 29th.
    [
      '0 0 31W * *',
      '2026-04-01T00:00:00Z',
      '2026-05-29T00:00:00Z',
      '2026-07-31T00:00:00Z',
      '2026-08-31T00:00:00Z',
    ],
    ['0 0 30W * *', '2026-01-31T00:00:00Z', '2026-03-30T00:00:00Z'],
    [
      '0 0 LW * *',
      '2026-01-01T00:00:00Z',
      '2026-01-30T00:00:00Z',
      '2026-02-27T00:00:00Z',
      '2026-03-31T00:00:00Z',
    ],
    ['0 0 L-3 2,3 *', '2028-01-01T00:00:00Z', '2028-02-26T00:00:00Z', '2028-03-28T00:00:00Z'],
    // Only a month of 31 days has a day 30 days before its last.
    ['0 0 L-30 * *', '2026-01-01T12:00:00Z', '2026-03-01T00:00:00Z', '2026-05-01T00:00:00Z'],
    // 28 June 2026 is a Sunday, so its nearest workday is Monday the 29th.
    ['0 0 L-2W 6 *', '2026-01-01T00:00:00Z', '2026-06-29T00:00:00Z', '2027-06-28T00:00:00Z'],
    // 1 March 2026 is a Sunday: the nearest workday must be in the same month.
    ['0 0 L-30W 3,8 *', '2026-01-01T00:00:00Z', '2026-03-02T00:00:00Z', '2026-08-03T00:00:00Z'],
    ['0 0 L,L-1,L-1W 2 *', '2026-02-01T00:00:00Z', '2026-02-27T00:00:00Z', '2026-02-28T00:00:00Z'],
    ['0 0 * * FRI#L', '2026-01-01T00:00:00Z', '2026-01-30T00:00:00Z', '2026-02-27T00:00:00Z'],
    ['0 0 * * 5L', '2026-01-01T00:00:00Z', '2026-01-30T00:00:00Z', '2026-02-27T00:00:00Z'],
    ['0 0 * * 5#2', '2026-01-01T00:00:00Z', '2026-01-09T00:00:00Z', '2026-02-13T00:00:00Z'],
    ['0 0 * * 5#5', '2026-01-31T00:00:00Z', '2026-05-29T00:00:00Z', '2026-07-31T00:00:00Z'],
    ['0 0 * * SUN#1', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00Z', '2026-02-01T00:00:00Z'],
    ['0 0 L * 5#2', '2026-01-01T00:00:00Z', '2026-01-09T00:00:00Z', '2026-01-31T00:00:00Z'],
    [
      '0 0 * * FRI-SUN',
      '2026-01-01T00:00:00Z',
      '2026-01-02T00:00:00Z',
      '2026-01-03T00:00:00Z',
      '2026-01-04T00:00:00Z',
    ],
  ])
})

describe('years', () => {
  itGives([
    ['0 0 12 1 1 ? 2030', '2026-01-01T00:00:00Z', '2030-01-01T12:00:00Z'],
    ['0 0 0 1 1 * 2030-2040/5', '2026-01-01T00:00:00Z', '2030-01-01T00:00:00Z', '2035-01-01T00:00:00Z'],
    ['0 0 0 1 1 * 2199', '2026-01-01T00:00:00Z', '2199-01-01T00:00:00Z'],
    ['0 0 0 29 2 * */50', '1970-01-01T00:00:00Z', '2020-02-29T00:00:00Z'],
  ])
})

describe('an expression that never fires', () => {
  it.each<[expression: string]>([
    ['0 0 30 2 *'],
    ['0 0 31 2,4,6,9,11 *'],
    ['0 0 31W 2 *'],
    ['0 0 0 29 2 ? 2023'],
    ['0 0 0 29 2 ? 2100'],
  ])('%s has neither a next nor a previous occurrence and is refused', (expression) => {
    const schedule = cronSchedule(expression, { timezone: 'Europe/Berlin' })
    expect(schedule.next(0)).toBeUndefined()
    expect(schedule.previous(parseInstant('2199-01-01T00:00:00Z'))).toBeUndefined()
    expect(refusalOf(() => assertFires(expression, { timezone: 'Europe/Berlin' })).code).toBe('CRON_NEVER')
  })

  it('may have years that have passed', () => {
    const options = { timezone: 'UTC', after: parseInstant('2026-01-01T00:00:00Z') }
    expect(refusalOf(() => assertFires('0 0 0 1 1 ? 2025', options)).code).toBe('CRON_NEVER')
    expect(() => assertFires('0 0 0 1 1 ? 2027', options)).not.toThrow()
  })

  it('may have only a time that clocks skip', () => {
    const expression = '0 30 2 29 3 ? 2026'
    const skipping = { timezone: 'Europe/Berlin', dst: 'skip' } as const
    expect(refusalOf(() => assertFires(expression, skipping)).code).toBe('CRON_NEVER')
    expect(() => assertFires(expression, { timezone: 'Europe/Berlin' })).not.toThrow()
  })
})

describe('the ends of the calendar', () => {
  const schedule = cronSchedule('0 0 * * *', { timezone: 'America/New_York' })

  it('are 1970 and the end of 2199', () => {
    expect(schedule.next(-Infinity)).toBe(parseInstant('1970-01-01T05:00:00Z'))
    expect(schedule.next(parseInstant('1800-01-01T00:00:00Z'))).toBe(parseInstant('1970-01-01T05:00:00Z'))
    expect(schedule.previous(Infinity)).toBe(parseInstant('2199-12-31T05:00:00Z'))
    expect(schedule.next(parseInstant('2199-12-31T05:00:00Z'))).toBeUndefined()
    expect(schedule.previous(parseInstant('1970-01-01T05:00:00Z'))).toBeUndefined()
  })

  it('refuse NaN', () => {
    expect(refusalOf(() => schedule.next(Number.NaN)).code).toBe('INSTANT_INVALID')
    expect(refusalOf(() => schedule.previous(Number.NaN)).code).toBe('INSTANT_INVALID')
  })
})

describe('a search that starts between two seconds', () => {
  const schedule = cronSchedule('* * * * * *', { timezone: 'UTC' })

  it('finds strictly later and strictly earlier instants', () => {
    expect([schedule.next(1000), schedule.next(1001), schedule.next(1999)]).toEqual([2000, 2000, 2000])
    expect([schedule.previous(2000), schedule.previous(2001), schedule.previous(2999)]).toEqual([
      1000, 2000, 2000,
    ])
  })
})

describe('a zone', () => {
  it('decides what day and hour it is', () => {
    const schedule = cronSchedule('0 9 5 1 *', { timezone: 'Asia/Bangkok' })
    const at = schedule.next(parseInstant('2026-01-01T00:00:00Z')) ?? 0
    expect(formatLocal(at, schedule.zone)).toBe('2026-01-05T09:00:00+07:00')
  })

  it('is refused if it is unknown, and so is a policy', () => {
    expect(refusalOf(() => cronSchedule('* * * * *', { timezone: 'Mars/Olympus' })).code).toBe('ZONE_UNKNOWN')
    // @ts-expect-error a caller without types
    expect(refusalOf(() => cronSchedule('* * * * *', { timezone: 'UTC', dst: 'never' })).code).toBe(
      'DST_UNKNOWN',
    )
  })
})

function following(expression: string, timezone: string, after: string, count: number): string[] {
  const schedule = cronSchedule(expression, { timezone })
  const found: string[] = []
  let at = schedule.next(parseInstant(after))
  while (at !== undefined && found.length < count) {
    found.push(formatInstant(at))
    at = schedule.next(at)
  }
  return found
}
