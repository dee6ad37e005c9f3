import { describe, expect, it } from 'vitest'
import { formatLocal, resolveLocalTime } from '../local-time.js'
import type { DstPolicy } from './dst.js'
import { cronSchedule } from './schedule.js'

/** Every occurrence on the given local days, as day, time and offset. */
type Row = readonly [expression: string, dst: DstPolicy, ...expected: string[]]

interface Days {
  readonly timezone: string
  /** Local times before and after the clock change. */
  readonly from: string
  readonly to: string
}

function itFires(days: Days, rows: readonly Row[]): void {
  it.each(rows.map((row) => [...row] as const))('%s under %s', (expression, dst, ...expected) => {
    const schedule = cronSchedule(expression, { timezone: days.timezone, dst })
    const from = resolveLocalTime(days.from, days.timezone) - 1
    const to = resolveLocalTime(days.to, days.timezone)
    const forward: number[] = []
    for (let at = schedule.next(from); at !== undefined && at < to; at = schedule.next(at)) forward.push(at)
    const backward: number[] = []
    for (let at = schedule.previous(to); at !== undefined && at > from; at = schedule.previous(at))
      backward.push(at)
    expect(forward.map((at) => formatLocal(at, schedule.zone).slice(8))).toEqual(expected)
    expect(backward.toReversed()).toEqual(forward)
  })
}

describe('Berlin springs from 02:00 to 03:00 on 29 March 2026', () => {
  itFires({ timezone: 'Europe/Berlin', from: '2026-03-29T00:00', to: '2026-03-30T00:00' }, [
    ['30 2 * * *', 'vixie', '29T03:00:00+02:00'],
    ['30 2 * * *', 'skip'],
    ['30 2 * * *', 'real-time'],
    ['0,30 2 * * *', 'vixie', '29T03:00:00+02:00'],
    ['0 2,3 * * *', 'vixie', '29T03:00:00+02:00'],
    ['30 1,2,3 * * *', 'vixie', '29T01:30:00+01:00', '29T03:00:00+02:00', '29T03:30:00+02:00'],
    ['30 1,2,3 * * *', 'skip', '29T01:30:00+01:00', '29T03:30:00+02:00'],
    ['*/30 2 * * *', 'vixie'],
    [
      '*/30 1-3 * * *',
      'vixie',
      '29T01:00:00+01:00',
      '29T01:30:00+01:00',
      '29T03:00:00+02:00',
      '29T03:30:00+02:00',
    ],
    ['* 30 2 * * *', 'vixie'],
    ['15 30 2 * * *', 'vixie', '29T03:00:00+02:00'],
    ['59 59 2 * * *', 'vixie', '29T03:00:00+02:00'],
    ['0 3 * * *', 'vixie', '29T03:00:00+02:00'],
    ['59 1 * * *', 'vixie', '29T01:59:00+01:00'],
    ['30 2 29 3 *', 'vixie', '29T03:00:00+02:00'],
    ['30 2 30 3 *', 'vixie'],
    ['30 2 * * MON', 'vixie'],
  ])
})

describe('Berlin falls back from 03:00 to 02:00 on 25 October 2026', () => {
  itFires({ timezone: 'Europe/Berlin', from: '2026-10-25T00:00', to: '2026-10-26T00:00' }, [
    ['30 2 * * *', 'vixie', '25T02:30:00+02:00'],
    ['30 2 * * *', 'skip', '25T02:30:00+02:00'],
    ['30 2 * * *', 'real-time', '25T02:30:00+02:00', '25T02:30:00+01:00'],
    ['0 2,3 * * *', 'vixie', '25T02:00:00+02:00', '25T03:00:00+01:00'],
    [
      '*/30 2 * * *',
      'vixie',
      '25T02:00:00+02:00',
      '25T02:30:00+02:00',
      '25T02:00:00+01:00',
      '25T02:30:00+01:00',
    ],
    [
      '*/30 2 * * *',
      'skip',
      '25T02:00:00+02:00',
      '25T02:30:00+02:00',
      '25T02:00:00+01:00',
      '25T02:30:00+01:00',
    ],
  ])
})

describe('Santiago springs over midnight on 6 September 2026', () => {
  itFires({ timezone: 'America/Santiago', from: '2026-09-05T12:00', to: '2026-09-06T12:00' }, [
    ['0 0 * * *', 'vixie', '06T01:00:00-03:00'],
    ['0 0 * * *', 'skip'],
    ['30 0 6 9 *', 'vixie', '06T01:00:00-03:00'],
    ['30 0 5 9 *', 'vixie'],
    ['30 0 * * SUN', 'vixie', '06T01:00:00-03:00'],
    ['59 23 * * *', 'vixie', '05T23:59:00-04:00'],
  ])
})

describe('Santiago falls back over midnight on 5 April 2026', () => {
  itFires({ timezone: 'America/Santiago', from: '2026-04-04T12:00', to: '2026-04-05T12:00' }, [
    ['0 0 * * *', 'vixie', '05T00:00:00-04:00'],
    ['30 23 * * *', 'vixie', '04T23:30:00-03:00'],
    ['30 23 4 4 *', 'real-time', '04T23:30:00-03:00', '04T23:30:00-04:00'],
    [
      '*/30 23 * * SAT',
      'vixie',
      '04T23:00:00-03:00',
      '04T23:30:00-03:00',
      '04T23:00:00-04:00',
      '04T23:30:00-04:00',
    ],
  ])
})

describe('Lord Howe moves by half an hour', () => {
  itFires({ timezone: 'Australia/Lord_Howe', from: '2026-10-04T00:00', to: '2026-10-05T00:00' }, [
    ['15 2 * * *', 'vixie', '04T02:30:00+11:00'],
    ['15,45 2 * * *', 'vixie', '04T02:30:00+11:00', '04T02:45:00+11:00'],
  ])
  itFires({ timezone: 'Australia/Lord_Howe', from: '2026-04-05T00:00', to: '2026-04-06T00:00' }, [
    ['45 1 * * *', 'vixie', '05T01:45:00+11:00'],
    ['45 1 * * *', 'real-time', '05T01:45:00+11:00', '05T01:45:00+10:30'],
  ])
})

describe('jumps of other lengths', () => {
  itFires({ timezone: 'Antarctica/Troll', from: '2026-03-29T00:00', to: '2026-03-30T00:00' }, [
    ['30 1,2 * * *', 'vixie', '29T03:00:00+02:00'],
  ])
  // Three hours are caught up.
  itFires({ timezone: 'Antarctica/Casey', from: '2018-10-07T00:00', to: '2018-10-08T00:00' }, [
    ['30 5 * * *', 'vixie', '07T07:00:00+11:00'],
  ])
  // A skipped day is not: 30 December 2011 did not happen in Samoa.
  itFires({ timezone: 'Pacific/Apia', from: '2011-12-29T00:00', to: '2012-01-01T00:00' }, [
    ['0 9 * * *', 'vixie', '29T09:00:00-10:00', '31T09:00:00+14:00'],
    ['0 9 30 12 *', 'vixie'],
    ['0 0 * * *', 'vixie', '29T00:00:00-10:00', '31T00:00:00+14:00'],
  ])
  itFires({ timezone: 'Africa/Monrovia', from: '1972-01-06T20:00', to: '1972-01-07T03:00' }, [
    ['0,30 0 * * *', 'vixie', '07T00:44:30+00:00'],
    ['0 1 * * *', 'vixie', '07T01:00:00+00:00'],
  ])
})

describe('a search that starts inside an overlap', () => {
  const zone = 'Europe/Berlin'
  const firstPass = Date.parse('2026-10-25T00:45:00Z')
  const secondPass = Date.parse('2026-10-25T01:15:00Z')

  it.each<[expression: string, after: number, expected: string]>([
    ['30 2 * * *', firstPass, '2026-10-26T02:30:00+01:00'],
    ['30 2 * * *', secondPass, '2026-10-26T02:30:00+01:00'],
    ['50 2 * * *', firstPass, '2026-10-25T02:50:00+02:00'],
    ['50 2 * * *', secondPass, '2026-10-26T02:50:00+01:00'],
    ['30 * * * *', firstPass, '2026-10-25T02:30:00+01:00'],
    ['30 * * * *', secondPass, '2026-10-25T02:30:00+01:00'],
    ['0 * * * *', firstPass, '2026-10-25T02:00:00+01:00'],
  ])('%s after %s is %s', (expression, after, expected) => {
    const schedule = cronSchedule(expression, { timezone: zone })
    expect(formatLocal(schedule.next(after) ?? 0, schedule.zone)).toBe(expected)
  })
})
