import { describe, expect, it } from 'vitest'
import { formatInstant } from './instant.js'
import { parseMoment, parseWindow } from './moment.js'

const now = Date.UTC(2026, 10, 15, 10, 30)
const utc = { zone: 'UTC', now }
const berlin = { zone: 'Europe/Berlin', now }

describe('a moment', () => {
  it.each([
    ['now', '2026-11-15T10:30:00Z'],
    ['-2h', '2026-11-15T08:30:00Z'],
    ['+5m', '2026-11-15T10:35:00Z'],
    ['90s', '2026-11-15T10:28:30Z'],
    ['PT15M', '2026-11-15T10:15:00Z'],
    ['today', '2026-11-14T23:00:00Z'],
    ['yesterday', '2026-11-13T23:00:00Z'],
    ['tomorrow', '2026-11-15T23:00:00Z'],
    ['2026-07-01', '2026-06-30T22:00:00Z'],
    ['09:30', '2026-11-15T08:30:00Z'],
    ['09:30:15', '2026-11-15T08:30:15Z'],
    ['2026-07-01T09:00', '2026-07-01T07:00:00Z'],
    ['2026-07-01 09:00', '2026-07-01T07:00:00Z'],
    ['2026-07-01T09:00:00Z', '2026-07-01T09:00:00Z'],
    ['2026-07-01T09:00:00.250+01:00', '2026-07-01T08:00:00.250Z'],
  ])('%s in Berlin is %s', (text, instant) => {
    expect(formatInstant(parseMoment(text, { ...berlin, bare: 'ago' }))).toBe(instant)
  })

  it('without a sign is in the past or the future, as the caller asks', () => {
    expect(parseMoment('2h', { ...utc, bare: 'ahead' }) - now).toBe(7_200_000)
    expect(parseMoment('-2h', { ...utc, bare: 'ahead' }) - now).toBe(-7_200_000)
  })

  it.each(['', 'soon', '2026-02-30', '2026-01-05T25:00', '25:00', '2 h', 'constructor', '-', '1x'])(
    '%j is refused, and the error says what is allowed',
    (text) => {
      expect(() => parseMoment(text, { ...utc, bare: 'ago' })).toThrow(
        expect.objectContaining({ name: 'TimeError', allowed: expect.any(String) as unknown }),
      )
    },
  )
})

describe('a window', () => {
  it.each([
    ['now', '2026-11-15T10:30:00Z', '2026-11-15T10:30:00Z'],
    ['-2h', '2026-11-15T08:30:00Z', '2026-11-15T10:30:00Z'],
    ['+2h', '2026-11-15T10:30:00Z', '2026-11-15T12:30:00Z'],
    ['today', '2026-11-15T00:00:00Z', '2026-11-15T23:59:59.999Z'],
    ['yesterday', '2026-11-14T00:00:00Z', '2026-11-14T23:59:59.999Z'],
    ['2026-01-05', '2026-01-05T00:00:00Z', '2026-01-05T23:59:59.999Z'],
    ['2026-01-05T02:00', '2026-01-05T02:00:00Z', '2026-01-05T02:00:00Z'],
    ['2026-01-05..2026-01-07', '2026-01-05T00:00:00Z', '2026-01-07T23:59:59.999Z'],
    ['-3h..-2h', '2026-11-15T07:30:00Z', '2026-11-15T08:30:00Z'],
    ['yesterday..', '2026-11-14T00:00:00Z', '2026-11-15T10:30:00Z'],
  ])('%s is from %s until %s', (text, from, until) => {
    const { fromAt, untilAt } = parseWindow(text, utc)
    expect([formatInstant(fromAt), formatInstant(untilAt)]).toEqual([from, until])
  })

  it('of a day is as long as that day', () => {
    const { fromAt, untilAt } = parseWindow('2026-10-25', berlin)
    expect(untilAt + 1 - fromAt).toBe(25 * 3_600_000)
  })

  it.each(['now..-1h', '..now', 'a..b', '-1h..-2h..-3h'])('%j is refused', (text) => {
    expect(() => parseWindow(text, utc)).toThrow(expect.objectContaining({ name: 'TimeError' }))
  })
})
