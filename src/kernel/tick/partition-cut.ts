import type { Instant } from '../../time/instant.js'
import type { Schedule } from '../../time/schedule.js'
import { CALENDAR_END, zoneOf } from '../../time/zone.js'
import { instantsWithin, type Stretch } from './hold-cut.js'
import type { LedgerRange } from '../ledger/ledger.js'
import { timezoneOf } from '../trigger/schedule.js'
import { boundsOf, labelCheck } from '../partition/label.js'
import { dueLabel, isGrain, keyedTimeOf, type DueInstant } from '../partition/rule.js'
import { sliceAt, type Slice, type SliceGrain, type Slicing } from '../partition/slice.js'
import { isTime, slicingOf, type PartitionSpec, type TimeSpec } from '../partition/spec.js'
import { partitionOf, type PartitionGrain } from '../partition/partition.js'
import type { DueTrigger } from '../trigger/trigger.js'

/**
 * If the job is an asset, removes the instants for which it has no partition: they can never become runs. Catch-up and
 * overlap must not see them, or they would choose one of them instead of a real run.
 */
export function cutPartitions(input: { due: DueTrigger; schedule: Schedule; clear: readonly Stretch[] }): {
  readonly clear: readonly Stretch[]
  readonly ranges: readonly LedgerRange[]
} {
  const { due, schedule } = input
  const { trigger, jobDefinition, version } = due
  if (jobDefinition.asset === undefined) return { clear: input.clear, ranges: [] }
  const timezone = timezoneOf(trigger.schedule)
  const asked = { rule: trigger.partition, spec: jobDefinition.asset.partitions, timezone }
  const clear: Stretch[] = []
  const ranges: LedgerRange[] = []
  for (const stretch of input.clear) {
    const parts = stretchesWithPartition(asked, stretch)
    clear.push(...parts)
    for (const gap of gapsBetween(parts, stretch)) {
      const within = instantsWithin(schedule, gap)
      if (within === undefined) continue
      ranges.push({ trigger: trigger.name, version, ...within, reason: 'missed', rule: 'partition:none' })
    }
  }
  return { clear, ranges }
}

/** The parts of a stretch whose instants have a partition, oldest first. */
export function stretchesWithPartition(asked: DueInstant, stretch: Stretch): readonly Stretch[] {
  const { rule, spec } = asked
  const time = timeAsked(asked)
  if (time !== undefined) return within(stretch, timeWindow(time))
  if (spec !== undefined && isGrain(rule) && !isAnyLabel(spec)) {
    return walkSlices({ ...asked, rule, spec }, stretch)
  }
  // The other rules do not depend on the instant.
  return dueLabel(asked, stretch.until) === undefined && spec !== undefined ? [] : [stretch]
}

/** The time spec, if it alone decides: then the slices need not be checked one by one. */
function timeAsked({ rule, spec, timezone }: DueInstant): TimeSpec | undefined {
  if (spec === undefined) return undefined
  if (typeof rule === 'object') return 'key' in rule ? keyedTimeOf(spec) : undefined
  if (!isTime(spec)) return undefined
  if (!isGrain(rule)) return rule === 'previous' ? { ...spec, previous: true } : spec
  const isOwn = spec.timezone === timezone && slicingOf(spec).grain === grainOf(rule)
  return isOwn ? { ...spec, previous: rule === 'previous-day' } : undefined
}

function grainOf(rule: PartitionGrain): SliceGrain {
  return rule === 'previous-day' ? 'day' : rule
}

function isAnyLabel(spec: PartitionSpec): boolean {
  return spec.kind === 'custom' && spec.labels === undefined
}

/** The gaps before, between and after the parts of a stretch. */
function gapsBetween(parts: readonly Stretch[], stretch: Stretch): Stretch[] {
  const starts = [stretch.after, ...parts.map(({ until }) => until)]
  const ends = [...parts.map(({ after }) => after), stretch.until]
  return starts
    .map((after, i) => ({ after, until: ends[i] as Instant }))
    .filter(({ after, until }) => until > after)
}

function within(stretch: Stretch, { fromAt, untilAt }: Window): readonly Stretch[] {
  const after = Math.max(stretch.after, fromAt - 1)
  const until = Math.min(stretch.until, untilAt - 1)
  return until > after ? [{ after, until }] : []
}

type Window = Omit<Slice, 'label'>

/** The instants whose slices are between the first and the last one of the spec. */
function timeWindow(spec: TimeSpec): Window {
  const { fromAt, untilAt } = boundsOf(spec)
  if (spec.previous !== true) return { fromAt, untilAt }
  const slicing = slicingOf(spec)
  return {
    fromAt: sliceAt(slicing, fromAt).untilAt,
    untilAt: untilAt >= CALENDAR_END ? CALENDAR_END : sliceAt(slicing, untilAt).untilAt,
  }
}

type Grained = DueInstant & { readonly rule: PartitionGrain; readonly spec: PartitionSpec }

/**
 * The slices of the trigger's calendar whose label is one of the asset's. The asset may have another calendar, or a
 * list of labels with gaps, so each slice is checked.
 */
function walkSlices({ rule, spec, timezone }: Grained, stretch: Stretch): readonly Stretch[] {
  const slicing: Slicing = { grain: grainOf(rule), zone: zoneOf(timezone) }
  const refusalOf = labelCheck(spec)
  const parts: Stretch[] = []
  for (let at = stretch.after + 1; at <= stretch.until; ) {
    const { untilAt } = sliceAt(slicing, at)
    if (refusalOf(partitionOf(rule, at, timezone)) === undefined) {
      const until = Math.min(untilAt - 1, stretch.until)
      const last = parts.at(-1)
      if (last?.until === at - 1) parts[parts.length - 1] = { after: last.after, until }
      else parts.push({ after: at - 1, until })
    }
    at = untilAt
  }
  return parts
}
