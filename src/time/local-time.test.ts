import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatInstant } from './instant.js'
import { formatCivil, formatLocal, parseLocalTime, resolveLocalTime } from './local-time.js'
import { TimeError } from './time-error.js'
import { zoneOf } from './zone.js'

describe('resolveLocalTime', () => {
  it.each<[text: string, zone: string, at: string]>([
    ['2026-01-05T09:00', 'Asia/Bangkok', '2026-01-05T02:00:00Z'],
    ['2026-01-05 09:00:30', 'Asia/Bangkok', '2026-01-05T02:00:30Z'],
    ['2026-01-05T09:00Z', 'Asia/Bangkok', '2026-01-05T09:00:00Z'],
    ['2026-01-05T09:00:00-05:00', 'Asia/Bangkok', '2026-01-05T14:00:00Z'],
    // Skipped by clocks: forward by the length of the jump.
    ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00Z'],
    ['2026-10-04T02:15', 'Australia/Lord_Howe', '2026-10-03T15:45:00Z'],
    ['2011-12-30T09:00', 'Pacific/Apia', '2011-12-30T19:00:00Z'],
    // Occurs twice: the first.
    ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30:00Z'],
    // An offset wins even if the local time is ambiguous in the zone.
    ['2026-10-25T02:30+01:00', 'Europe/Berlin', '2026-10-25T01:30:00Z'],
  ])('reads %s in %s as %s', (text, zone, at) => {
    expect(formatInstant(resolveLocalTime(text, zone))).toBe(at)
  })

  it.each<[text: string, position: number]>([
    ['2026-02-30T09:00', 8],
    ['2026-01-05T24:00', 11],
    ['2026-01-05T09:00:00.5', 19],
    ['2026-01-05', 10],
    ['2026-01-05T09:00 ', 16],
    ['2026-01-05T09:00+7', 18],
    ['tomorrow', 0],
  ])('refuses %j at position %i', (text, position) => {
    expect(() => resolveLocalTime(text, 'UTC')).toThrow(
      expect.objectContaining({ code: 'LOCAL_TIME_INVALID', position }),
    )
  })

  it('refuses an unknown zone even if the text has an offset', () => {
    expect(() => resolveLocalTime('2026-01-05T09:00Z', 'EST')).toThrow(TimeError)
  })
})

describe('parseLocalTime', () => {
  it('returns the offset separately', () => {
    const localMs = Date.UTC(2026, 0, 5, 9)
    expect(parseLocalTime('2026-01-05T09:00')).toEqual({ localMs, offsetMs: undefined })
    expect(parseLocalTime('2026-01-05T09:00+07:00')).toEqual({ localMs, offsetMs: 25_200_000 })
    expect(parseLocalTime('2026-01-05T09:00-00:44:30')).toEqual({ localMs, offsetMs: -2_670_000 })
    expect(parseLocalTime('2026-01-05T09:00-00:00')).toEqual({ localMs, offsetMs: 0 })
  })
})

describe('formatLocal', () => {
  it.each<[at: string, zone: string, text: string]>([
    ['2026-01-05T02:00:00Z', 'Asia/Bangkok', '2026-01-05T09:00:00+07:00'],
    ['2026-01-05T02:00:00Z', 'UTC', '2026-01-05T02:00:00+00:00'],
    ['2026-07-05T02:00:00Z', 'America/St_Johns', '2026-07-04T23:30:00-02:30'],
    ['1971-01-01T00:00:00Z', 'Africa/Monrovia', '1970-12-31T23:15:30-00:44:30'],
    ['2026-01-05T02:00:00.250Z', 'UTC', '2026-01-05T02:00:00.250+00:00'],
  ])('writes %s in %s as %s', (at, zone, text) => {
    expect(formatLocal(Date.parse(at), zoneOf(zone))).toBe(text)
  })

  it('parses back to the same instant in every zone', () => {
    const anySecond = fc.integer({ min: 0, max: Date.UTC(2100) / 1000 }).map((second) => second * 1000)
    const anyZone = fc.constantFrom('Europe/Berlin', 'Africa/Monrovia', 'Pacific/Apia', 'Asia/Kathmandu')
    fc.assert(
      fc.property(
        anySecond,
        anyZone,
        (at, zone) => resolveLocalTime(formatLocal(at, zoneOf(zone)), 'UTC') === at,
      ),
    )
  })

  it('writes a civil time without its offset', () => {
    expect(formatCivil(Date.UTC(2026, 2, 29, 2, 30))).toBe('2026-03-29T02:30:00')
  })
})
