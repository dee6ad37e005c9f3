import { describe, expect, it } from 'vitest'
import { RotaError } from '../definition/errors.js'
import { placeOf } from '../definition/faults.js'
import {
  byKeys,
  custom,
  daily,
  hourly,
  monthly,
  readPartitions,
  twoDimensional,
  weekly,
  type TimeOptions,
} from './define.js'

describe('specs', () => {
  it('F1: a spec is frozen data that survives JSON, and reading it again returns the same', () => {
    const specs = [
      hourly(),
      daily({ timezone: 'America/New_York', start: '2025-01-01', end: '2025-12-31', previous: true }),
      weekly({ timezone: 'europe/berlin' }),
      monthly({ start: '2025-01' }),
      byKeys(['eu', 'us']),
      custom(),
      custom(['a', 'b']),
      twoDimensional(daily(), byKeys(['eu', 'us'])),
    ]
    for (const spec of specs) {
      expect(Object.isFrozen(spec)).toBe(true)
      const place = placeOf()
      const again = readPartitions(JSON.parse(JSON.stringify(spec)), place)
      expect(place.faults).toEqual([])
      expect(again).toStrictEqual(spec)
    }
  })

  it('the default zone is UTC, and a zone is stored in its usual spelling', () => {
    expect(daily()).toEqual({ kind: 'daily', timezone: 'UTC' })
    expect(weekly({ timezone: 'europe/berlin' })).toEqual({ kind: 'weekly', timezone: 'Europe/Berlin' })
  })

  it('a kind alone is enough for the defaults', () => {
    expect(readPartitions('daily', placeOf())).toEqual(daily())
    expect(readPartitions('unpartitioned', placeOf())).toEqual({ kind: 'unpartitioned' })
  })
})

describe('invalid specs', () => {
  const faultsOf = (make: () => unknown): readonly string[] => {
    try {
      make()
    } catch (error) {
      if (error instanceof RotaError) {
        expect(error.code).toBe('DEFINITION_INVALID')
        return error.faults.map(({ path, message }) => `${path}: ${message}`)
      }
      throw error
    }
    return []
  }

  it('all faults are reported together, each with its place', () => {
    const options = { timezone: 'CET', start: 'x', previous: 1, zone: 'UTC' } as unknown as TimeOptions
    expect(faultsOf(() => daily(options))).toEqual([
      'zone: unknown option; did you mean timezone?',
      'timezone: "CET" is not a time zone: abbreviations are not accepted; did you mean Europe/Berlin?',
      'previous: 1 is neither true nor false',
    ])
    expect(faultsOf(() => daily({ start: '2025-02-30', end: 'soon' }))).toEqual([
      'start: "2025-02-30" does not exist: 2025-02 has the days 01 to 28',
      'end: "soon" is not the label of a day',
    ])
  })

  it('an end before the start', () => {
    expect(faultsOf(() => monthly({ start: '2025-05', end: '2025-04' }))).toEqual([
      'end: 2025-04 lies before the start',
    ])
  })

  it('options that are not a map', () => {
    expect(faultsOf(() => daily('UTC' as unknown as TimeOptions))).toEqual([
      '(whole): a map of options was expected, not "UTC"',
    ])
  })

  const badKeys = [
    { keys: [], faults: ['keys: a list of 0 is not a list of labels'] },
    { keys: 'eu', faults: ['keys: "eu" is not a list of labels'] },
    {
      keys: ['eu', '', 'a\nb', ' x', 'eu', 7, '\ud800'],
      faults: [
        'keys[1]: "" cannot be a label',
        'keys[2]: "a\\nb" cannot be a label',
        'keys[3]: " x" cannot be a label',
        'keys[4]: "eu" duplicates [0]',
        'keys[5]: 7 cannot be a label',
        'keys[6]: "\\ud800" cannot be a label',
      ],
    },
    { keys: ['x'.repeat(257)], faults: [`keys[0]: "${'x'.repeat(60)}…" cannot be a label`] },
    {
      keys: Array.from({ length: 10_001 }, String),
      faults: ['keys: a list of 10001 is not a list of labels'],
    },
  ]
  it.each(badKeys)('keys that are not different texts: $faults.0', ({ keys, faults }) => {
    expect(faultsOf(() => byKeys(keys as string[]))).toEqual(faults)
  })

  it('a pair within a pair, and an unknown kind', () => {
    const pair = twoDimensional(daily(), byKeys(['eu']))
    expect(faultsOf(() => twoDimensional(pair as never, { kind: 'dayly' } as never))).toEqual([
      'first.kind: "two-dimensional" is not allowed',
      'second.kind: "dayly" is not allowed; did you mean daily?',
    ])
    const place = placeOf('partitions')
    expect(readPartitions({ kind: 'custom', list: [] }, place)).toBeUndefined()
    expect(readPartitions({}, place)).toBeUndefined()
    expect(place.faults.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      'partitions.list: unknown option',
      'partitions: the kind is missing',
    ])
  })
})
