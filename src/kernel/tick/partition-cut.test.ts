import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aDue, aHold } from '../../../test/fixtures/due-trigger.js'
import { formatInstant, parseInstant, type Instant } from '../../time/instant.js'
import { CALENDAR_END, CALENDAR_START } from '../../time/zone.js'
import { stretchesWithPartition } from './partition-cut.js'
import { byKeys, custom, daily, hourly, monthly, twoDimensional, weekly } from '../partition/define.js'
import { dueLabel, type DueInstant } from '../partition/rule.js'
import { scheduleOf, type ScheduleSpec } from '../trigger/schedule.js'
import { planTick, type Tick } from './tick.js'
import type { CatchUpPolicy, DueTrigger, OverlapPolicy } from '../trigger/trigger.js'

const day = 86_400_000
const nightly: ScheduleSpec = { kind: 'cron', expression: '0 2 * * *', timezone: 'UTC' }
const policy = { maxAgeMs: undefined, maxRuns: 100, graceMs: 60_000 } as const
const days = daily({ start: '2026-01-03', end: '2026-01-06' })

interface Given {
  readonly spec?: DueInstant['spec']
  readonly rule?: DueInstant['rule']
  readonly schedule?: ScheduleSpec
  readonly mode?: CatchUpPolicy['mode']
  readonly overlap?: OverlapPolicy
  readonly given?: Partial<DueTrigger>
}

/** A nightly trigger of an asset, planned up to the evening of 1 January 2026. */
function ofAsset({ spec = days, rule, schedule = nightly, mode = 'latest', overlap, given }: Given) {
  const due = aDue({
    schedule,
    partition: rule,
    catchUp: { ...policy, mode },
    ...(overlap && { overlap }),
  })
  const asset = { partitions: spec, deps: [] }
  const cursorAt = parseInstant('2026-01-01T20:00:00Z')
  return { ...due, jobDefinition: { ...due.jobDefinition, asset }, cursorAt, ...given }
}

/** The runs, ranges and superseded runs of a tick, by day of January. */
function told({ runs, ranges, supersede }: Tick) {
  const date = (at: Instant): number => new Date(at).getUTCDate()
  return {
    runs: runs.map(({ partition }) => partition),
    ranges: ranges.map((range) => [range.rule, date(range.firstAt), date(range.lastAt)]),
    supersedes: supersede !== undefined,
  }
}

describe('instants for which an asset has no partition', () => {
  const after = parseInstant('2026-01-10T12:00:00Z')

  it('are dropped before catch-up: after downtime past the end, the newest partition is still made', () => {
    expect(told(planTick(ofAsset({}), after))).toEqual({
      runs: ['2026-01-06'],
      ranges: [
        ['partition:none', 2, 2],
        ['partition:none', 7, 10],
        ['catch-up:latest', 3, 5],
      ],
      supersedes: false,
    })
  })

  it('do not use up the runs that catch-up may make', () => {
    const due = ofAsset({ mode: 'all', overlap: 'queue-all' })
    const few = { ...due, trigger: { ...due.trigger, catchUp: { ...due.trigger.catchUp, maxRuns: 3 } } }
    expect(told(planTick(few, after)).runs).toEqual(['2026-01-04', '2026-01-05', '2026-01-06'])
  })

  it.each(['cancel-running', 'terminate-running'] as const)('%s: they stop no run', (overlap) => {
    const cursorAt = parseInstant('2026-01-06T12:00:00Z')
    const unfinished = [{ id: 'x', state: 'running' as const }]
    const late = ofAsset({ overlap, given: { cursorAt, unfinished } })
    expect(told(planTick(late, parseInstant('2026-01-07T02:00:00Z')))).toEqual({
      runs: [],
      ranges: [['partition:none', 7, 7]],
      supersedes: false,
    })
  })

  it.each(['skip', 'queue-one'] as const)('%s: they are not counted as overlap', (overlap) => {
    const unfinished = [{ id: 'x', state: 'pending' as const }]
    const { ranges } = told(planTick(ofAsset({ overlap, given: { unfinished } }), after))
    expect(ranges.filter(([rule]) => rule === 'partition:none')).toEqual([
      ['partition:none', 2, 2],
      ['partition:none', 7, 10],
    ])
  })

  it('keep the reason of a hold that was in force', () => {
    const fromAt = parseInstant('2026-01-06T12:00:00Z')
    const hold = { ...aHold('trigger:t', 0), fromAt }
    const { runs, ranges } = told(planTick(ofAsset({ given: { holds: [hold] } }), after))
    expect({ runs, held: ranges.filter(([rule]) => rule === 'hold') }).toEqual({
      runs: ['2026-01-06'],
      held: [['hold', 7, 10]],
    })
  })

  it('may lie between partitions, where an asset has a list of them', () => {
    const spec = custom(['2026-01-03', '2026-01-04', '2026-01-08'])
    const due = ofAsset({ spec, rule: 'day', mode: 'all', overlap: 'queue-all' })
    expect(told(planTick(due, after))).toEqual({
      runs: ['2026-01-03', '2026-01-04', '2026-01-08'],
      ranges: [
        ['partition:none', 2, 2],
        ['partition:none', 5, 7],
        ['partition:none', 9, 10],
      ],
      supersedes: false,
    })
  })
})

const timezones = ['UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia', 'Australia/Lord_Howe'] as const
const specs: fc.Arbitrary<NonNullable<DueInstant['spec']>> = fc
  .tuple(fc.constantFrom(...timezones), fc.boolean(), fc.boolean(), fc.boolean())
  .chain(([timezone, hasStart, hasEnd, previous]) => {
    const between = (start: string, end: string) => ({
      timezone,
      previous,
      ...(hasStart && { start }),
      ...(hasEnd && { end }),
    })
    const days = daily(between('2011-12-28', '2012-01-02'))
    return fc.constantFrom(
      days,
      hourly({ ...between('', ''), timezone: 'UTC', start: '2011-12-29T22:00Z', end: '2011-12-31T01:00Z' }),
      weekly(between('2011-W51', '2012-W01')),
      monthly(between('2011-12', '2012-01')),
      custom(['2011-12-28', '2011-12-30', '2012-01-01', '2011-W52', '2012-01', 'x']),
      custom(),
      twoDimensional(days, byKeys(['eu'])),
      byKeys(['eu']),
      { kind: 'unpartitioned' } as const,
    )
  })
const rules = fc.constantFrom<DueInstant['rule']>(
  undefined,
  'slice',
  'previous',
  'hour',
  'day',
  'previous-day',
  'week',
  'month',
  { key: 'eu' },
  { label: '2011-12-30' },
)
const asked = fc.record({ rule: rules, spec: specs, timezone: fc.constantFrom(...timezones) })
const around = parseInstant('2011-12-30T00:00:00Z')
const instants = fc.integer({ min: around - 12 * day, max: around + 40 * day })

describe('the stretches with a partition', () => {
  it('contain exactly the instants that have one, whatever the rule, the calendar and the zone', () => {
    fc.assert(
      fc.property(asked, instants, fc.integer({ min: 1, max: 9 * day }), (asked, after, lengthMs) => {
        const stretch = { after, until: after + lengthMs }
        const parts = stretchesWithPartition(asked, stretch)
        const edges = parts.flatMap(({ after, until }) => [after, after + 1, until, until + 1])
        const probes = Array.from({ length: 12 }, (_, i) => after + 1 + Math.floor((i * (lengthMs - 1)) / 12))
        for (const at of [...probes, ...edges, stretch.until]) {
          if (at <= stretch.after || at > stretch.until) continue
          const isInside = parts.some((part) => part.after < at && at <= part.until)
          if (isInside !== (dueLabel(asked, at) !== undefined))
            expect({ at: formatInstant(at), isInside }).toBe('inside exactly where it has a label')
        }
      }),
      { numRuns: 500 },
    )
  })

  it('end with the calendar', () => {
    const whole = { after: CALENDAR_START - 1, until: CALENDAR_END - 1 }
    for (const rule of ['slice', 'previous'] as const) {
      const [part, ...others] = stretchesWithPartition(
        { rule, spec: daily({ timezone: 'America/New_York' }), timezone: 'UTC' },
        whole,
      )
      expect(others).toEqual([])
      expect(part?.until).toBe(CALENDAR_END - 1)
    }
  })

  it('leave each instant of a tick one run or one range', () => {
    const modes = fc.constantFrom<CatchUpPolicy['mode']>('skip', 'latest', 'all')
    const overlaps = fc.constantFrom<OverlapPolicy>(
      'allow',
      'skip',
      'queue-one',
      'queue-all',
      'cancel-running',
    )
    const schedules = fc.constantFrom<ScheduleSpec>(
      nightly,
      { kind: 'cron', expression: '0 */5 * * *', timezone: 'Pacific/Apia' },
      { kind: 'interval', everyMs: 7 * 3_600_000, anchorAt: around },
    )
    fc.assert(
      fc.property(
        asked,
        schedules,
        modes,
        overlaps,
        instants,
        ({ rule, spec }, schedule, mode, overlap, now) => {
          const due = ofAsset({
            spec,
            rule,
            schedule,
            mode,
            overlap,
            given: { cursorAt: around - 12 * day, unfinished: [{ id: 'x', state: 'running' }] },
          })
          const { runs, ranges, supersede } = planTick(due, now)
          const all = scheduleOf(schedule)
          for (let at = all.next(due.cursorAt); at !== undefined && at <= now; at = all.next(at)) {
            const instant = at
            const covering = ranges.filter(({ firstAt, lastAt }) => firstAt <= instant && instant <= lastAt)
            const count = runs.filter(({ dueAt }) => dueAt === instant).length + covering.length
            if (count !== 1) expect({ at: formatInstant(instant), count }).toBe('recorded once')
          }
          const made = new Set(runs.map(({ id }) => id))
          for (const { reason, blocker } of ranges)
            if (reason === 'collapsed') expect(made).toContain(blocker)
          if (supersede !== undefined) expect(made).toContain(supersede.by)
        },
      ),
      { numRuns: 200 },
    )
  })
})
