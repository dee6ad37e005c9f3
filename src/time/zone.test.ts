import { describe, expect, it } from 'vitest'
import { refusalOf } from '../../test/time/refusal.js'
import { type Resolution, tzdataVersion, zoneOf } from './zone.js'
import { spellZoneName } from './zone-name.js'

const MINUTE = 60_000

describe('zoneOf', () => {
  it.each<[written: string, name: string]>([
    ['UTC', 'UTC'],
    ['utc', 'UTC'],
    ['Etc/UTC', 'Etc/UTC'],
    ['GMT', 'GMT'],
    ['europe/berlin', 'Europe/Berlin'],
    ['AMERICA/NEW_YORK', 'America/New_York'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['asia/calcutta', 'Asia/Calcutta'],
    ['america/port-au-prince', 'America/Port-au-Prince'],
    ['africa/dar_es_salaam', 'Africa/Dar_es_Salaam'],
    ['etc/gmt+5', 'Etc/GMT+5'],
    ['est5edt', 'EST5EDT'],
    ['nz-chat', 'NZ-CHAT'],
    ['us/eastern', 'US/Eastern'],
    ['america/indiana/knox', 'America/Indiana/Knox'],
    ['america/knox_in', 'America/Knox_IN'],
  ])('accepts %s as %s', (written, name) => {
    expect(zoneOf(written).name).toBe(name)
    expect(zoneOf(written)).toBe(zoneOf(name))
  })

  it('spells every zone that Intl lists as Intl does', () => {
    const names = Intl.supportedValuesOf('timeZone')
    expect(names.map((name) => spellZoneName(name.toLowerCase()))).toEqual(names)
  })

  it.each<[name: string, hint: RegExp]>([
    ['EST', /America\/New_York/],
    ['CET', /Europe\/Berlin/],
    ['mst', /America\/Denver/],
    ['PRC', /Asia\/Shanghai/],
    ['XYZ', /abbreviations/],
    ['CEST', /no such/],
    ['+07:00', /offset/],
    ['Berlin', /Europe\/Berlin/],
    ['America/New York', /America\/New_York/],
    ['Europe/Atlantis', /no such/],
    ['SystemV/EST5', /no such/],
    ['Etc/Unknown', /no such/],
    ['', /no such/],
    ['__proto__', /no such/],
  ])('refuses %j', (name, hint) => {
    const error = refusalOf(() => zoneOf(name))
    expect([error.code, error.message]).toEqual(['ZONE_UNKNOWN', expect.stringMatching(hint)])
    expect(error.allowed).toContain('IANA')
  })

  it('refuses a value that is not a string', () => {
    // @ts-expect-error a caller without types
    expect(refusalOf(() => zoneOf(undefined)).code).toBe('ZONE_UNKNOWN')
  })
})

describe('offsetAt', () => {
  it.each<[name: string, at: string, minutes: number]>([
    ['UTC', '2026-07-01T00:00:00Z', 0],
    ['Europe/Berlin', '2026-03-29T00:59:59Z', 60],
    ['Europe/Berlin', '2026-03-29T01:00:00Z', 120],
    ['Asia/Kathmandu', '2026-01-01T00:00:00Z', 345],
    ['Africa/Monrovia', '1971-01-01T00:00:00Z', -44.5],
    ['Pacific/Apia', '2011-12-30T09:59:59Z', -600],
    ['Pacific/Apia', '2011-12-30T10:00:00Z', 840],
    ['America/New_York', '1900-01-01T00:00:00Z', -300],
    ['America/New_York', '2500-07-01T00:00:00Z', -240],
  ])('%s at %s is %d minutes', (name, at, minutes) => {
    expect(zoneOf(name).offsetAt(Date.parse(at))).toBe(minutes * MINUTE)
    expect(zoneOf(name).toLocal(Date.parse(at))).toBe(Date.parse(at) + minutes * MINUTE)
  })
})

describe('resolve', () => {
  it.each<[name: string, local: string, resolution: object]>([
    ['UTC', '2026-03-29T02:30:00', { kind: 'unique', at: '2026-03-29T02:30:00.000Z' }],
    ['Europe/Berlin', '2026-03-29T01:59:59', { kind: 'unique', at: '2026-03-29T00:59:59.000Z' }],
    ['Europe/Berlin', '2026-03-29T03:00:00', { kind: 'unique', at: '2026-03-29T01:00:00.000Z' }],
    [
      'Europe/Berlin',
      '2026-03-29T02:30:00',
      {
        kind: 'gap',
        before: '2026-03-29T00:30:00.000Z',
        after: '2026-03-29T01:30:00.000Z',
        jumpAt: '2026-03-29T01:00:00.000Z',
      },
    ],
    [
      'Europe/Berlin',
      '2026-10-25T02:00:00',
      { kind: 'overlap', first: '2026-10-25T00:00:00.000Z', second: '2026-10-25T01:00:00.000Z' },
    ],
    ['Europe/Berlin', '2026-10-25T03:00:00', { kind: 'unique', at: '2026-10-25T02:00:00.000Z' }],
    [
      'Pacific/Apia',
      '2011-12-30T12:00:00',
      {
        kind: 'gap',
        before: '2011-12-29T22:00:00.000Z',
        after: '2011-12-30T22:00:00.000Z',
        jumpAt: '2011-12-30T10:00:00.000Z',
      },
    ],
    ['America/New_York', '1950-01-01T12:00:00', { kind: 'unique', at: '1950-01-01T17:00:00.000Z' }],
    ['America/New_York', '2300-01-01T12:00:00', { kind: 'unique', at: '2300-01-01T17:00:00.000Z' }],
  ])('%s %s', (name, local, expected) => {
    expect(readable(zoneOf(name).resolve(Date.parse(`${local}Z`)))).toEqual(expected)
  })
})

describe('nextTransition', () => {
  it('is strictly later and before the limit', () => {
    const zone = zoneOf('Europe/Berlin')
    const spring = Date.parse('2026-03-29T01:00:00Z')
    const autumn = Date.parse('2026-10-25T01:00:00Z')
    expect(zone.nextTransition(spring - 1)).toEqual({
      at: spring,
      offsetBefore: 60 * MINUTE,
      offsetAfter: 120 * MINUTE,
    })
    expect(zone.nextTransition(spring)?.at).toBe(autumn)
    expect(zone.nextTransition(spring - 1, spring)).toBeUndefined()
  })

  it('is undefined if clocks never change', () => {
    expect(zoneOf('UTC').nextTransition(0)).toBeUndefined()
    expect(zoneOf('Etc/GMT+5').nextTransition(-Infinity)).toBeUndefined()
  })

  it('finds all four changes of a year with Ramadan in Morocco', () => {
    const zone = zoneOf('Africa/Casablanca')
    const found: string[] = []
    let change = zone.nextTransition(Date.UTC(2012), Date.UTC(2013))
    while (change !== undefined) {
      found.push(new Date(change.at).toISOString().slice(0, 10))
      change = zone.nextTransition(change.at, Date.UTC(2013))
    }
    expect(found).toEqual(['2012-04-29', '2012-07-20', '2012-08-20', '2012-09-30'])
  })
})

it('returns the version of the time zone data', () => {
  expect(tzdataVersion()).toMatch(/^20\d\d[a-z]$/)
})

function readable(resolution: Resolution): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const [key, value] of Object.entries<string | number>(resolution)) {
    shown[key] = typeof value === 'number' ? new Date(value).toISOString() : value
  }
  return shown
}
