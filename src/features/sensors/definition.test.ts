import { describe, expect, it } from 'vitest'
import { placeOf } from '../../kernel/definition/faults.js'
import { defineSensor, readSensorDefinition, type SensorInput } from './definition.js'

describe('a sensor', () => {
  it('F9: is polled every 30 seconds by default', () => {
    expect(defineSensor('s', 's3', { job: 'load' })).toMatchObject({
      name: 's',
      job: 'load',
      schedule: { kind: 'sensor', type: 's3', everyMs: 30_000, timeoutMs: 60_000, timezone: 'UTC' },
      overlap: 'allow',
      enabled: true,
    })
  })

  it('accepts every option', () => {
    const input: SensorInput = {
      job: 'load',
      every: '5m',
      timeout: 1500,
      timezone: 'europe/berlin',
      dedupe: { by: 'key-and-partition', for: '7d' },
      overlap: 'queue-all',
      priority: 3,
      enabled: false,
      pauseAfter: 10,
      labels: { team: 'data' },
    }
    expect(defineSensor('s', 'custom', input)).toMatchObject({
      schedule: {
        everyMs: 300_000,
        timeoutMs: 1500,
        timezone: 'Europe/Berlin',
        dedupeBy: 'key-and-partition',
        dedupeMs: 7 * 86_400_000,
        pauseAfter: 10,
      },
      overlap: 'queue-all',
      priority: 3,
      enabled: false,
      labels: { team: 'data' },
    })
  })

  it.each<[string, object, RegExp]>([
    ['no job', { job: undefined }, /job: nothing to start is given/],
    ['an interval that is none', { every: '0s' }, /every: "0s" is too short/],
    ['a poll that may take two days', { timeout: '48h' }, /timeout: "48h" is too long/],
    ['a zone that nobody knows', { timezone: 'EST' }, /timezone: /],
    ['another scope', { dedupe: { by: 'day' } }, /dedupe\.by: "day" is not allowed/],
    [
      'a day to which observations would move',
      { calendar: { exclude: ['holidays'], onExcluded: 'next-day' } },
      /calendar\.onExcluded: /,
    ],
    ['an overlap that would lose observations', { overlap: 'skip' }, /overlap: "skip" is not allowed/],
    ['an option that it does not have', { cron: '* * * * *' }, /cron: unknown option/],
  ])('is refused with %s', (_, change, message) => {
    const input = { job: 'load', ...change } as SensorInput
    expect(() => defineSensor('s', 'custom', input)).toThrow(message)
  })

  it.each<[string, object, string[]]>([
    ['custom', { every: '1h', dedupe: { for: '10m' } }, ['dedupe.for: 10m contradicts `every` (1h)']],
    ['custom', { dedupe: { for: '29s' } }, ['dedupe.for: 29s contradicts `every` (30s)']],
    ['custom', { dedupe: { for: '30s' } }, []],
    ['webhook', { every: '1m' }, ['every: it contradicts `type`: a webhook is not polled']],
    [
      'webhook',
      { timeout: '1m', pauseAfter: 3, blackouts: [] },
      [
        'timeout: it contradicts `type`',
        'pauseAfter: it contradicts `type`',
        'blackouts: it contradicts `type`',
      ],
    ],
    ['webhook', { dedupe: { for: '11m' }, overlap: 'queue-all', labels: { a: 'b' } }, []],
  ])('of the type %s with %j names both places of a contradiction', (type, change, expected) => {
    const define = () => defineSensor('s', type, { job: 'load', ...change })
    if (expected.length === 0) expect(define).not.toThrow()
    for (const text of expected) expect(define).toThrow(text)
  })

  it.each<[object, string]>([
    [{ onTrigger: () => undefined }, 'job and onTrigger cannot be combined'],
    [{ runs: { retry: 3 } }, 'it is allowed only with onTrigger; a job has its own options'],
  ])('in code names both places of %j beside a job', (change, message) => {
    const place = placeOf('sensors', 's')
    readSensorDefinition({ name: 's', type: 'custom', input: { job: 'load', ...change } }, place)
    expect(place.faults.map((one) => one.message)).toEqual([message])
  })

  it('F11: does not forget deliveries of a webhook while they could be replayed', () => {
    const defined = (dedupe: SensorInput['dedupe']) => () =>
      defineSensor('s', 'webhook', { job: 'load', dedupe })
    expect(defined({ for: '10m' })).toThrow(/dedupe\.for: "10m" is too short \(allowed: more than 10m/)
    expect(defined({ for: 600_001 })).not.toThrow()
    expect(defined(undefined)).not.toThrow()
  })
})
