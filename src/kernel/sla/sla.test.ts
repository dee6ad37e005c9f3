import { describe, expect, it } from 'vitest'
import { placeOf } from '../definition/faults.js'
import { defineTrigger } from '../trigger/define-trigger.js'
import { formatInstant, parseInstant } from '../../time/instant.js'
import { readSla } from './define-sla.js'
import { nextTimeOfDay, slaText } from './sla.js'

describe('a time of day', () => {
  it.each([
    // An ordinary day, the same day and the next one.
    ['07:30', 'Europe/Berlin', '2026-01-05T02:00:00Z', '2026-01-05T06:30:00Z'],
    ['07:30', 'Europe/Berlin', '2026-01-05T06:30:00Z', '2026-01-06T06:30:00Z'],
    // Clocks skip it: the first instant after the jump.
    ['02:30', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00Z'],
    ['02:30', 'America/New_York', '2026-03-08T05:00:00Z', '2026-03-08T07:00:00Z'],
    // Clocks show it twice: the first of the two, and the next day for a later due instant.
    ['02:30', 'Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00Z'],
    ['02:30', 'Europe/Berlin', '2026-10-25T00:45:00Z', '2026-10-26T01:30:00Z'],
    // Midnight itself is skipped.
    ['00:00', 'Africa/Cairo', '2026-04-23T12:00:00Z', '2026-04-23T22:00:00Z'],
    ['00:30', 'America/Santiago', '2026-09-05T12:00:00Z', '2026-09-06T04:00:00Z'],
    // Half an hour is skipped.
    ['02:15', 'Australia/Lord_Howe', '2026-10-03T12:00:00Z', '2026-10-03T15:30:00Z'],
    // A whole day is skipped: the time comes on the day after it.
    ['07:30', 'Pacific/Apia', '2011-12-30T09:00:00Z', '2011-12-30T17:30:00Z'],
  ])('%s in %s after %s is %s', (text, zone, after, expected) => {
    expect(formatInstant(nextTimeOfDay(text, zone, parseInstant(after)) as number)).toBe(expected)
  })
})

describe('an SLA', () => {
  const read = (value: unknown, options = {}) => {
    const place = placeOf()
    const sla = readSla(value, place, options)
    return { sla, faults: place.faults.map(({ path, message }) => `${path}: ${message}`) }
  }

  it('keeps its promises, with the zone of its times of day', () => {
    const written = {
      startedWithin: '5m',
      finishedWithin: 3_600_000,
      finishedBy: '07:30',
      notOlderThan: '25h',
    }
    expect(read(written, { timezone: 'Europe/Berlin' }).sla).toEqual({
      startedWithinMs: 300_000,
      finishedWithinMs: 3_600_000,
      finishedBy: '07:30',
      notOlderThanMs: 90_000_000,
      timezone: 'Europe/Berlin',
    })
    expect(read({ startedWithin: '5m' }, { timezone: 'Europe/Berlin' }).sla).toEqual({
      startedWithinMs: 300_000,
    })
    expect(read({ finishedBy: '07:30', timezone: 'Asia/Tokyo' }, { timezone: 'UTC' }).sla).toEqual({
      finishedBy: '07:30',
      timezone: 'Asia/Tokyo',
    })
  })

  it('is shown in one line', () => {
    const { sla } = read({ finishedBy: '07:30', notOlderThan: '25h' }, { timezone: 'UTC' })
    expect(slaText(sla)).toBe('finished by 07:30 (UTC), a success every 1d1h')
    expect(slaText(undefined)).toBeUndefined()
  })

  it.each<[object, RegExp]>([
    [{}, /^\(whole\): it promises nothing/],
    [{ startedWithin: 'soon' }, /^startedWithin: /],
    [
      { startedWithin: '5m', finishedWithin: '5m' },
      /^finishedWithin: "5m" contradicts `startedWithin` \("5m"\)/,
    ],
    [{ finishedBy: '7:30' }, /^finishedBy: "7:30" is not a time of day/],
    [{ finishedBy: '24:00' }, /^finishedBy: "24:00" is not a time of day/],
    [{ finishedBy: 730 }, /^finishedBy: 730 is not a time of day/],
    [{ startedWithin: '5m', timezone: 'UTC' }, /^timezone: "UTC" has no effect without a time of day/],
    [{ finishedBy: '07:30', timezone: 'CEST' }, /^timezone: /],
    [{ notOlderThan: '500ms' }, /^notOlderThan: /],
    [{ madeWithin: '3h' }, /^madeWithin: unknown option/],
  ])('%j is refused', (value, fault) => {
    expect(read(value).faults.join('\n')).toMatch(fault)
  })
})

describe('a last success that the schedule itself makes too old is refused, with both places', () => {
  it.each<[object, string]>([
    [{ cron: '0 * * * *' }, '1h contradicts `cron`, which is due at most every 1h'],
    [{ cron: '0 9 * * 1' }, '1h contradicts `cron`, which is due at most every 1w'],
    [{ every: '1h' }, '1h contradicts `every`, which is due at most every 1h'],
    [{ every: '2h', after: 'finish' }, '1h contradicts `every`, which is due at most every 2h'],
    [{ at: '2026-01-05T09:00Z' }, '1h contradicts `at`: there is one run'],
  ])('%j', (when, message) => {
    const input = { job: 'work', ...when, sla: { notOlderThan: '1h' } }
    expect(() => defineTrigger('t', input)).toThrow(`sla.notOlderThan: ${message}`)
  })

  it('a schedule that is due more often, or sometimes more often, is accepted', () => {
    const sla = { notOlderThan: '61m' }
    for (const when of [{ every: '1h' }, { cron: '0 * * * *' }, { cron: '0 9,10 * * 1-5' }])
      expect(defineTrigger('t', { job: 'work', ...when, sla }).sla).toEqual({ notOlderThanMs: 3_660_000 })
  })
})
