import { afterEach, describe, expect, it, vi } from 'vitest'
import { distanceText, roughly, TimeText, zoneHere } from './time-text.js'

describe('lengths of time', () => {
  it.each([
    [0, '0ms'],
    [45, '45ms'],
    [1234, '1.2s'],
    [9999, '9.9s'],
    [12_345, '12s'],
    [185_000, '3m5s'],
    [3_600_000, '1h'],
    [187_200_000, '2d4h'],
    [366 * 86_400_000, '1y1d'],
  ])('%i ms is roughly %s', (ms, text) => {
    expect(roughly(ms)).toBe(text)
  })

  it('are written with their direction', () => {
    expect([distanceText(500), distanceText(-90_000), distanceText(90_000)]).toEqual([
      'now',
      '1m30s ago',
      'in 1m30s',
    ])
  })
})

describe('instants', () => {
  const now = Date.UTC(2026, 6, 1, 12)
  const times = new TimeText({ zone: 'Europe/Berlin', now })

  it('are written in the zone of the reader', () => {
    expect(times.full(now)).toBe('2026-07-01 14:00:00')
    expect(times.exact(now + 250)).toBe('2026-07-01 14:00:00 +02:00')
    expect(times.clock(now)).toBe('14:00:00')
  })

  it('contain the year, or the day, only if it differs from now', () => {
    expect(times.short(now)).toBe('07-01 14:00:00')
    expect(times.short(Date.UTC(2027, 0, 1))).toBe('2027-01-01 01:00')
    expect(times.near(now + 3_600_000)).toBe('15:00:00')
    expect(times.near(0)).toBe('1970-01-01 01:00:00')
  })
})

describe('the zone of this machine', () => {
  afterEach(() => void vi.unstubAllEnvs())

  it.each([
    ['UTC', 'UTC'],
    ['Etc/UTC', 'UTC'],
    ['Europe/Berlin', 'Europe/Berlin'],
    ['Atlantic/Reykjavik', 'Atlantic/Reykjavik'],
  ])('is %s: times are written in %s', (name, zone) => {
    vi.stubEnv('TZ', name)
    expect(zoneHere()).toBe(zone)
  })
})
