import { describe, expect, it } from 'vitest'
import { defineTrigger, type ScheduleOptions } from './define-trigger.js'
import { RotaError, type Fault } from '../definition/errors.js'
import type { Json } from '../definition/json.js'

/** The faults of a definition as `path: message (allowed)`. */
function faultsOf(options: unknown, name = 't'): string[] {
  try {
    defineTrigger(name, options as never)
  } catch (error) {
    expect(error).toBeInstanceOf(RotaError)
    expect((error as RotaError).code).toBe('DEFINITION_INVALID')
    return (error as RotaError).faults.map(line)
  }
  return []
}

function line(fault: Fault): string {
  return `${fault.path}: ${fault.message}${fault.allowed === undefined ? '' : ` (${fault.allowed})`}`
}

function define(options: ScheduleOptions): ReturnType<typeof defineTrigger> {
  return defineTrigger('t', { job: 'j', ...options })
}

describe('a trigger', () => {
  it('has all defaults', () => {
    expect(define({ cron: '0 2 * * *' })).toEqual({
      name: 't',
      job: 'j',
      schedule: { kind: 'cron', expression: '0 2 * * *', timezone: 'UTC' },
      payload: undefined,
      partition: undefined,
      catchUp: { mode: 'latest', maxAgeMs: undefined, maxRuns: 100, graceMs: 60_000 },
      overlap: 'skip',
      jitterMs: 0,
      spreadMs: 0,
      priority: undefined,
      enabled: true,
    })
  })

  it('is deeply frozen, with its own copy of the payload', () => {
    const payload = { list: [1, { deep: true }] }
    const trigger = define({ every: '1m', payload })
    payload.list.push(2)
    expect(trigger.payload).toEqual({ list: [1, { deep: true }] })
    expect(Object.isFrozen(trigger.schedule)).toBe(true)
    expect(Object.isFrozen((trigger.payload as { list: Json[] }).list[1])).toBe(true)
  })

  it('lists all faults together, in the order of their dependencies', () => {
    expect(
      faultsOf({ job: '', every: '5x', jitter: -1, enabled: 'yes', overlap: 'queue', priority: 0.5 }),
    ).toEqual([
      'job: "" is not a name (1 to 128 of the characters A-Z a-z 0-9 . _ : @ / -, beginning with a letter or digit)',
      expect.stringMatching(/^every: "5x": x is not a unit here, at position 1 \(whole numbers with units/),
      'overlap: "queue" is not allowed (allow, skip, queue-one, queue-all, cancel-running, terminate-running)',
      expect.stringMatching(/^jitter: "-1": not a whole, non-negative number of milliseconds/),
      'priority: 0.5 is not allowed (a whole number from -1000000 to 1000000)',
      'enabled: "yes" is neither true nor false (true, false)',
    ])
  })

  it('names the trigger in its message', () => {
    expect(() => defineTrigger('nightly', { job: 'j' })).toThrow(
      'trigger "nightly" is not valid: (whole): it has no schedule (allowed: exactly one of cron, every, at)',
    )
  })
})

describe('when a trigger is due', () => {
  const at = Date.parse('2026-03-29T01:30:00Z')
  it.each<[string, ScheduleOptions, object]>([
    [
      'a zone in its usual spelling',
      { cron: '@daily', timezone: 'america/new_york' },
      { kind: 'cron', expression: '@daily', timezone: 'America/New_York' },
    ],
    [
      'a daylight saving policy',
      { cron: '30 2 * * *', dst: 'skip' },
      { kind: 'cron', expression: '30 2 * * *', timezone: 'UTC', dst: 'skip' },
    ],
    [
      'bounds in the zone of the expression',
      { cron: '0 9 * * *', timezone: 'Asia/Bangkok', start: '2026-01-05T09:00', end: '2026-01-06T09:00' },
      {
        kind: 'cron',
        expression: '0 9 * * *',
        timezone: 'Asia/Bangkok',
        startAt: Date.parse('2026-01-05T02:00Z'),
        endAt: Date.parse('2026-01-06T02:00Z'),
      },
    ],
    ['a grid without anchor', { every: '15m' }, { kind: 'interval', everyMs: 900_000 }],
    ['a grid in milliseconds, at the shortest', { every: 100 }, { kind: 'interval', everyMs: 100 }],
    [
      'a grid on an anchor',
      { every: 'PT1H', anchor: '2026-03-29T01:30:00Z', immediate: true },
      { kind: 'interval', everyMs: 3_600_000, anchorAt: at, immediate: true },
    ],
    [
      'after finish',
      { every: '5m', after: 'finish', immediate: false },
      { kind: 'after-finish', everyMs: 300_000, immediate: false },
    ],
    ['an instant with offset', { at: '2026-03-29T03:30+02:00' }, { kind: 'once', at }],
    ['an instant with a fraction', { at: '2026-03-29T01:30:00.250Z' }, { kind: 'once', at: at + 250 }],
    ['a Date', { at: new Date(at) }, { kind: 'once', at }],
    ['a local time without zone is UTC', { at: '2026-03-29T01:30' }, { kind: 'once', at }],
    [
      'a local time that clocks jump over moves forward',
      { at: '2026-03-29T02:30', timezone: 'Europe/Berlin' },
      { kind: 'once', at },
    ],
    [
      'a local time that comes twice is the first one',
      { at: '2026-10-25T02:30', timezone: 'Europe/Berlin' },
      { kind: 'once', at: Date.parse('2026-10-25T00:30Z') },
    ],
  ])('%s', (_, options, schedule) => {
    expect(define(options).schedule).toEqual(schedule)
  })

  it.each<[object, string[]]>([
    [{}, ['(whole): it has no schedule (exactly one of cron, every, at)']],
    [
      { cron: '* * * * *', at: '2026-01-01T00:00Z' },
      ['(whole): cron and at cannot be combined (exactly one of cron, every, at)'],
    ],
    [
      { cron: '* * * * *', every: '1m', at: 'x' },
      ['(whole): cron and every and at cannot be combined (exactly one of cron, every, at)'],
    ],
    [
      { every: '1m', timezone: 'UTC' },
      ['timezone: it cannot be used with every (only with cron or at, or with a calendar)'],
    ],
    [{ every: '1m', dst: 'skip' }, ['dst: it cannot be used with every (only with cron)']],
    [{ cron: '@daily', after: 'finish' }, ['after: it cannot be used with cron (only with every)']],
    [{ cron: '@daily', immediate: true }, ['immediate: it cannot be used with cron (only with every)']],
    [
      { at: '2026-01-01T00:00Z', start: '2025-01-01T00:00Z' },
      ['start: it cannot be used with at (only with cron or every)'],
    ],
    [
      { every: '1m', after: 'finish', anchor: '2026-01-01T00:00Z' },
      ['anchor: an interval from the end of a run has no fixed grid (leave it out, or leave out after)'],
    ],
    [{ every: '99ms' }, ['every: "99ms" is too short (from 100ms to 36525d)']],
    [{ every: 0 }, ['every: 0 is too short (from 100ms to 36525d)']],
    [{ every: '1m', after: 'end' }, ['after: "end" is not allowed (finish)']],
    [{ cron: 5 }, ['cron: 5 is not a cron expression (a text such as 0 2 * * *)']],
    [
      { cron: '@daily', timezone: 'America/New York' },
      [
        'timezone: "America/New York" is not a time zone: did you mean America/New_York? (an IANA name such as Europe/Berlin, or UTC)',
      ],
    ],
    [
      { cron: '@daily', timezone: 7 },
      ['timezone: "7" is not a time zone: a text was expected (an IANA name such as Europe/Berlin, or UTC)'],
    ],
    [
      { cron: '@daily', dst: 'vixi' },
      ['dst: "vixi" is not allowed; did you mean vixie? (vixie, skip, real-time)'],
    ],
    [
      { cron: '@daily', start: '2026-02-01T00:00Z', end: '2026-01-01T00:00Z' },
      ['end: "2026-01-01T00:00Z" lies before the start'],
    ],
    [
      { cron: '0 0 1 1 *', start: '2026-02-01T00:00Z', end: '2026-03-01T00:00Z' },
      ['end: no instant is due between start and end'],
    ],
    [
      { at: '2026-01-01T00:00Z', timezone: 'Europe/Berlin' },
      ['timezone: at is an exact instant, so a zone has no effect'],
    ],
    [{ at: new Date(Number.NaN) }, ['at: the Date is invalid']],
    [
      { at: 1_767_603_600_000 },
      ['at: 1767603600000 is not an instant (a text such as 2026-01-05T09:00:00Z, or a Date)'],
    ],
    [
      { at: '2026-02-30T09:00' },
      [
        'at: "2026-02-30T09:00": day 30 is not within 1 to 28, at position 8 (YYYY-MM-DDTHH:MM[:SS] with or without Z or an offset such as +07:00)',
      ],
    ],
  ])('refuses %j', (options, faults) => {
    expect(faultsOf({ job: 'j', ...options })).toEqual(faults)
  })

  it('passes on where and why an expression is wrong', () => {
    const [fault] = faultsOf({ job: 'j', cron: '0 25 * * *' })
    expect(fault).toMatch(/^cron: .*25/)
    expect(faultsOf({ job: 'j', cron: '0 0 30 2 *' })).toEqual([
      'cron: "0 0 30 2 *" never fires in UTC (an expression with an occurrence before the year 2200)',
    ])
  })

  it('reports a wrong expression together with a wrong zone', () => {
    expect(
      faultsOf({ job: 'j', cron: 'daily', timezone: 'EST' }).map((fault) => fault.split(':')[0]),
    ).toEqual(['timezone', 'cron'])
  })
})

describe('policies for late and overlapping instants', () => {
  it.each<[ScheduleOptions, string, string]>([
    [{}, 'latest', 'skip'],
    [{ partition: 'day' }, 'all', 'queue-all'],
    [{ partition: 'day', catchUp: 'latest' }, 'latest', 'skip'],
    [{ catchUp: 'all' }, 'all', 'queue-all'],
    [{ catchUp: { maxAge: '1d' } }, 'latest', 'skip'],
    [{ catchUp: { mode: 'all' }, overlap: 'allow' }, 'all', 'allow'],
    [{ catchUp: 'skip', overlap: 'terminate-running' }, 'skip', 'terminate-running'],
  ])('%j means %s and %s', (options, mode, overlap) => {
    const trigger = define({ cron: '@hourly', ...options })
    expect([trigger.catchUp.mode, trigger.overlap]).toEqual([mode, overlap])
  })

  it('reads the bounds of catch-up', () => {
    const catchUp = { mode: 'all', maxAge: '2h', maxRuns: 5, grace: '1h' } as const
    expect(define({ every: '1m', catchUp }).catchUp).toEqual({
      mode: 'all',
      maxAgeMs: 7_200_000,
      maxRuns: 5,
      graceMs: 3_600_000,
    })
  })

  it.each<[object, string[]]>([
    [
      { catchUp: 'all', overlap: 'skip' },
      ['overlap: skip would drop the runs that catch-up all creates (any but skip, or catchUp latest)'],
    ],
    [
      { partition: 'day', overlap: 'skip' },
      ['overlap: skip would drop the runs that catch-up all creates (any but skip, or catchUp latest)'],
    ],
    [{ catchUp: 'lastest' }, ['catchUp: "lastest" is not allowed; did you mean latest? (skip, latest, all)']],
    [{ catchUp: { grace: '61m' } }, ['catchUp.grace: "61m" is too long (from 0s to 1h)']],
    [{ catchUp: { maxAge: 0 } }, ['catchUp.maxAge: 0 is too short (from 1ms to 36525d)']],
    [
      { catchUp: { mode: 'all', maxRuns: 0 } },
      ['catchUp.maxRuns: 0 is not allowed (a whole number from 1 to 10000)'],
    ],
    [
      { catchUp: { max_runs: 3 } },
      ['catchUp.max_runs: unknown option; did you mean maxRuns? (mode, maxAge, maxRuns, grace)'],
    ],
    [{ catchUp: true }, ['catchUp: a map of options was expected, not true']],
    [
      { partition: 'daily' },
      [
        'partition: "daily" is not allowed; did you mean day? (hour, day, previous-day, week, month, slice, previous)',
      ],
    ],
    [{ spread: '25h' }, ['spread: "25h" is too long (from 0s to 24h)']],
  ])('refuses %j', (options, faults) => {
    expect(faultsOf({ job: 'j', cron: '@hourly', ...options })).toEqual(faults)
  })
})

describe('names and unknown options', () => {
  it.each(['a', 'constructor', 'toString', 'team/mail:daily@eu-1', '0', 'x'.repeat(128)])(
    '%s is a name',
    (name) => {
      expect(defineTrigger(name, { job: name, every: '1s' })).toMatchObject({ name, job: name })
    },
  )

  it.each(['', ' a', '-a', '__proto__', 'a b', 'ä', 'a\n', 'x'.repeat(129)])('%j is not a name', (name) => {
    expect(faultsOf({ job: 'j', every: '1s' }, name)).toHaveLength(1)
  })

  it.each([
    ['tz', 'timezone'],
    ['timeZone', 'timezone'],
    ['catchup', 'catchUp'],
    ['catch_up', 'catchUp'],
    ['overlaps', 'overlap'],
    ['interval', 'every'],
    ['crom', 'cron'],
  ])('%s is answered with %s', (written, meant) => {
    const faults = faultsOf({ job: 'j', every: '1s', [written]: 'x' })
    expect(faults).toHaveLength(1)
    expect(faults[0]).toContain(`${written}: unknown option; did you mean ${meant}? (`)
  })

  it('a key that names a prototype is just an unknown key', () => {
    const options = JSON.parse(
      '{"job":"j","every":"1s","__proto__":{"enabled":false},"constructor":1}',
    ) as unknown
    expect(faultsOf(options).map((fault) => fault.split(' (')[0])).toEqual([
      '__proto__: unknown option',
      'constructor: unknown option',
    ])
  })

  it.each([[null], ['x'], [5], [[]], [new Map()], [new Date(0)]])('%s is not a map of options', (options) => {
    expect(faultsOf(options)[0]).toMatch(/^\(whole\): a map of options was expected, not /)
  })
})

describe('a payload', () => {
  it('keeps a key that names a prototype as a key', () => {
    const payload = JSON.parse('{"__proto__":{"admin":true}}') as Json
    const kept = define({ every: '1s', payload }).payload as object
    expect(JSON.stringify(kept)).toBe('{"__proto__":{"admin":true}}')
    expect(Object.getPrototypeOf(kept)).toBe(Object.prototype)
  })

  const endless: Record<string, unknown> = {}
  endless['self'] = endless
  it.each<[unknown, string]>([
    [() => 1, 'a function cannot be represented in JSON'],
    [{ when: new Date(0) }, 'a Date at when cannot be represented in JSON'],
    [{ list: [1, Number.NaN] }, 'NaN at list[1] cannot be represented in JSON'],
    [[undefined], 'nothing at [0] cannot be represented in JSON'],
    [10n, '10 cannot be represented in JSON'],
    [new Map(), 'a Map cannot be represented in JSON'],
    [endless, 'something deeper than 100 levels cannot be represented in JSON'],
    ['x'.repeat(262_143), '262145 bytes of JSON are too many'],
  ])('is refused if JSON would change it', (payload, message) => {
    expect(faultsOf({ job: 'j', every: '1s', payload })[0]).toContain(`payload: ${message} (`)
  })

  it('omits undefined values', () => {
    expect(define({ every: '1s', payload: { a: 1, b: undefined } as never }).payload).toEqual({ a: 1 })
  })
})

describe('options that contradict each other are refused, with both places', () => {
  const cron = { job: 'work', cron: '0 * * * *' }
  it.each([
    [
      { ...cron, catchUp: { mode: 'latest', maxRuns: 5 } },
      'catchUp.maxRuns: 5 contradicts `catchUp.mode` (latest)',
    ],
    [{ ...cron, catchUp: { maxRuns: 5 } }, 'catchUp.maxRuns: 5 contradicts `catchUp.mode` (latest)'],
    [
      { ...cron, catchUp: { mode: 'skip', maxRuns: 5 } },
      'catchUp.maxRuns: 5 contradicts `catchUp.mode` (skip)',
    ],
    [
      { ...cron, catchUp: { mode: 'skip', maxAge: '1h' } },
      'catchUp.maxAge: "1h" contradicts `catchUp.mode` (skip)',
    ],
    [
      { ...cron, catchUp: 'all', overlap: 'skip' },
      'overlap: skip would drop the runs that catch-up all creates',
    ],
    [
      { ...cron, jitter: '10m', sla: { startedWithin: '1m' } },
      'sla.startedWithin: 1m contradicts `jitter`, which may delay a run by 10m',
    ],
    [
      { ...cron, jitter: '5m', spread: '10m', sla: { finishedWithin: '10m' } },
      'sla.finishedWithin: 10m contradicts `jitter` and `spread`, which may delay a run by 15m',
    ],
    [
      { ...cron, sla: { startedWithin: '5m', finishedWithin: '1m' } },
      'sla.finishedWithin: "1m" contradicts `startedWithin` ("5m")',
    ],
    [
      { job: 'work', at: '2030-01-01T00:00:00Z', pauseAfter: 2 },
      'pauseAfter: 2 contradicts `at`: there is one run',
    ],
    [{ ...cron, count: 2, pauseAfter: 3 }, 'pauseAfter: 3 contradicts `count` (2): there are fewer runs'],
    [{ ...cron, every: '1h' }, 'cron and every cannot be combined'],
    [{ ...cron, anchor: '2026-01-01T00:00:00Z' }, 'anchor: it cannot be used with cron'],
    [{ ...cron, start: '2027-01-01T00:00:00Z', end: '2026-01-01T00:00:00Z' }, 'lies before the start'],
    [{ job: 'work', every: '1h', after: 'finish', count: 3 }, 'count: an interval from the end of a run'],
  ])('%j', (input, message) => {
    expect(() => defineTrigger('t', input as never)).toThrow(message)
  })

  it('options that do not contradict each other are accepted', () => {
    const sla = { startedWithin: '10m' }
    expect(defineTrigger('t', { ...cron, jitter: '10m', sla, count: 3, pauseAfter: 3 })).toMatchObject({
      pauseAfter: 3,
    })
    expect(defineTrigger('t', { job: 'work', at: '2030-01-01T00:00:00Z', pauseAfter: 1 })).toBeDefined()
    expect(defineTrigger('t', { ...cron, catchUp: { mode: 'latest', maxAge: '1h' } })).toBeDefined()
  })
})
