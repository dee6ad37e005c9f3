import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refusalOf } from '../../test/time/refusal.js'
import { formatInstant, parseInstant } from './instant.js'

describe('parseInstant', () => {
  it.each<[text: string, at: number]>([
    ['1970-01-01T00:00:00Z', 0],
    ['1970-01-01t00:00:00z', 0],
    ['1970-01-01 00:00:00Z', 0],
    ['2026-01-05T09:00:00+07:00', Date.UTC(2026, 0, 5, 2)],
    ['2026-01-05T09:00:00-03:30', Date.UTC(2026, 0, 5, 12, 30)],
    ['2026-01-05T09:00:00-00:00', Date.UTC(2026, 0, 5, 9)],
    ['2026-01-05T09:00:00.5Z', Date.UTC(2026, 0, 5, 9, 0, 0, 500)],
    ['2026-01-05T09:00:00.123456789Z', Date.UTC(2026, 0, 5, 9, 0, 0, 123)],
    ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
    ['0000-01-01T00:00:00Z', -62_167_219_200_000],
    ['9999-12-31T23:59:59.999Z', 253_402_300_799_999],
  ])('reads %s', (text, at) => {
    expect(parseInstant(text)).toBe(at)
  })

  it.each<[text: string, position: number]>([
    ['', 0],
    ['2026', 4],
    ['2026-1-05T09:00:00Z', 6],
    ['2026-13-01T00:00:00Z', 5],
    ['2026-00-01T00:00:00Z', 5],
    ['2026-02-29T00:00:00Z', 8],
    ['2100-02-29T00:00:00Z', 8],
    ['2026-04-31T00:00:00Z', 8],
    ['2026-01-05', 10],
    ['2026-01-05_09:00:00Z', 10],
    ['2026-01-05T24:00:00Z', 11],
    ['2026-01-05T09:60:00Z', 14],
    ['2026-01-05T09:00Z', 16],
    ['2026-12-31T23:59:60Z', 17],
    ['2026-01-05T09:00:00', 19],
    ['2026-01-05T09:00:00.Z', 20],
    ['2026-01-05T09:00:00.1234567890Z', 20],
    ['2026-01-05T09:00:00+24:00', 20],
    ['2026-01-05T09:00:00+0700', 22],
    ['2026-01-05T09:00:00Zulu', 20],
    ['+02026-01-05T09:00:00Z', 0],
  ])('refuses %j at position %i', (text, position) => {
    const error = refusalOf(() => parseInstant(text))
    expect([error.code, error.position]).toEqual(['INSTANT_INVALID', position])
    expect(error.allowed).toContain('RFC 3339')
  })

  it('refuses an offset that leaves the supported years, and a value that is not a string', () => {
    expect(refusalOf(() => parseInstant('0000-01-01T00:00:00+01:00')).code).toBe('INSTANT_INVALID')
    // @ts-expect-error a caller without types
    expect(refusalOf(() => parseInstant(5)).code).toBe('INSTANT_INVALID')
  })
})

describe('formatInstant', () => {
  it('writes milliseconds only if they are not zero', () => {
    expect(formatInstant(Date.UTC(2026, 0, 5, 2))).toBe('2026-01-05T02:00:00Z')
    expect(formatInstant(Date.UTC(2026, 0, 5, 2, 0, 0, 50))).toBe('2026-01-05T02:00:00.050Z')
  })

  it('parses back to the same instant', () => {
    const anyInstant = fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 })
    fc.assert(fc.property(anyInstant, (at) => parseInstant(formatInstant(at)) === at))
  })

  it.each([Number.NaN, Infinity, -62_167_219_200_001, 253_402_300_800_000])('refuses %d', (at) => {
    expect(refusalOf(() => formatInstant(at)).code).toBe('INSTANT_INVALID')
  })
})
