import type { Instant } from '../../time/instant.js'
import { fault, shown, within, type Place } from '../definition/faults.js'
import { joinLabel, labelAt, labelFault } from './label.js'
import { dimensionsOf, isTime, type PartitionSpec, type TimeKind, type TimeSpec } from './spec.js'
import { partitionGrains, partitionOf, type PartitionGrain } from './partition.js'
import { isMap, readChoice, readOptions } from '../definition/read-value.js'

/**
 * Which partition a due instant is about, as data: a function would have to be the same in every process. A grain
 * is cut by the zone of the trigger; `slice` is the slice of the asset that contains the instant, `previous` the one
 * before; `label` is always the same; `key` is combined with the slice if an asset has two dimensions.
 */
export type PartitionRule =
  | PartitionGrain
  | 'slice'
  | 'previous'
  | { readonly label: string }
  | { readonly key: string }

/** The words a definition may use. */
export const partitionWords = [...partitionGrains, 'slice', 'previous'] as const

/** Reads a rule; records faults at the place and returns undefined if there are any. */
export function readPartitionRule(value: unknown, place: Place): PartitionRule | undefined {
  if (!isMap(value)) return readChoice(value, partitionWords, place)
  readOptions(value, ['label', 'key'], place)
  const [name, second] = (['label', 'key'] as const).filter((one) => value[one] !== undefined)
  if (name === undefined || second !== undefined) {
    return fault(place, 'it must name one partition', 'exactly one of label, key')
  }
  const text = value[name]
  if (typeof text !== 'string' || text === '' || text.length > 600) {
    return fault(within(place, name), `${shown(text)} is not a label`, 'a text')
  }
  return name === 'label' ? { label: text } : { key: text }
}

/** The input for the partition of a due instant. */
export interface DueInstant {
  readonly rule: PartitionRule | undefined
  /** How the asset is partitioned; undefined for a job that is not an asset. */
  readonly spec: PartitionSpec | undefined
  /** The zone of the trigger. */
  readonly timezone: string
}

/** The partition label of a due instant; undefined if there is none. */
export function dueLabel({ rule, spec, timezone }: DueInstant, dueAt: Instant): string | undefined {
  if (typeof rule === 'object' && 'label' in rule) return rule.label
  if (isGrain(rule)) return grainLabel({ rule, spec, timezone }, dueAt)
  if (spec === undefined) return undefined
  if (typeof rule === 'object') return keyedLabel(spec, rule.key, dueAt)
  return labelAt(rule === 'previous' && isTime(spec) ? { ...spec, previous: true } : spec, dueAt)
}

/** Whether a rule depends only on the calendar of the trigger's zone. */
export function isGrain(rule: PartitionRule | undefined): rule is PartitionGrain {
  return typeof rule === 'string' && rule !== 'slice' && rule !== 'previous'
}

/** Records why a rule cannot determine the partition of an asset, or of a plain job. */
export function checkPartitionRule(
  { rule, spec, timezone }: DueInstant,
  isCron: boolean,
  place: Place,
): void {
  if (spec === undefined) return checkWithoutAsset(rule, place)
  if (typeof rule === 'object') return checkNamed(rule, spec, place)
  if (spec.kind === 'unpartitioned') {
    if (rule !== undefined) fault(place, 'the asset has no partitions', 'no partition')
    return
  }
  if (spec.kind === 'custom' && isGrain(rule)) return
  if (!isTime(spec)) return fault(place, nothingSays, namedAllowed(spec))
  if (isGrain(rule)) return checkGrain(rule, spec, timezone, place)
  if (rule !== undefined || !isCron || spec.kind === 'hourly' || spec.timezone === timezone) return
  const message = `the schedule is read in ${timezone}, and the asset is cut by the calendar of ${spec.timezone}`
  fault(place, message, `timezone ${spec.timezone}, or partition slice, or ${grains[spec.kind]}`)
}

const nothingSays = 'an instant does not determine which of its partitions is meant'

const grains: Readonly<Record<TimeKind, PartitionGrain>> = {
  hourly: 'hour',
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
}

function checkWithoutAsset(rule: PartitionRule | undefined, place: Place): void {
  if (rule === undefined || isGrain(rule) || (typeof rule === 'object' && 'label' in rule)) return
  fault(place, 'only an asset supports it', [...partitionGrains, '{ label }'].join(', '))
}

function checkNamed(rule: { label: string } | { key: string }, spec: PartitionSpec, place: Place): void {
  if ('label' in rule) {
    const refused = labelFault(spec, rule.label)
    if (refused !== undefined) fault(within(place, 'label'), refused.refused, refused.allowed)
    return
  }
  if (timeOf(spec) === undefined) {
    fault(within(place, 'key'), 'the asset is not cut by time and a key', '{ label }, or no partition')
  } else if (keyFault(spec, rule.key)) {
    fault(within(place, 'key'), `${shown(rule.key)} is not one of its keys`)
  }
}

function checkGrain(rule: PartitionGrain, spec: TimeSpec, timezone: string, place: Place): void {
  const own = grains[spec.kind]
  const isOwn = rule === own || (rule === 'previous-day' && own === 'day')
  if (!isOwn) fault(place, `the partitions of the asset are ${spec.kind}`, `${own}, slice, previous`)
  else if (rule === 'hour' && timezone !== spec.timezone) {
    fault(place, `the hours of the asset are those of ${spec.timezone}`, 'slice, or the same timezone')
  }
}

function namedAllowed(spec: PartitionSpec): string {
  return timeOf(spec) === undefined ? '{ label: … }' : '{ key: … } for the slice of one key, or { label: … }'
}

function grainLabel(
  { rule, spec, timezone }: DueInstant & { readonly rule: PartitionGrain },
  dueAt: Instant,
): string | undefined {
  const label = partitionOf(rule, dueAt, timezone)
  return spec === undefined || labelFault(spec, label) === undefined ? label : undefined
}

function keyedLabel(spec: PartitionSpec, key: string, dueAt: Instant): string | undefined {
  const time = timeOf(spec)
  const label = time === undefined ? undefined : labelAt(time.spec, dueAt)
  if (time === undefined || label === undefined) return undefined
  return time.index === 0 ? joinLabel(label, key) : joinLabel(key, label)
}

/** The time dimension of a spec that also has keys. */
export function keyedTimeOf(spec: PartitionSpec): TimeSpec | undefined {
  return timeOf(spec)?.spec
}

/** The time dimension of a pair whose other dimension is not time. */
function timeOf(spec: PartitionSpec): { readonly spec: TimeSpec; readonly index: number } | undefined {
  const dimensions = dimensionsOf(spec)
  const times = dimensions.flatMap((one, index) => (isTime(one) ? [{ spec: one, index }] : []))
  return dimensions.length === 2 && times.length === 1 ? times[0] : undefined
}

function keyFault(spec: PartitionSpec, key: string): boolean {
  const other = dimensionsOf(spec).find((dimension) => !isTime(dimension))
  return other === undefined || labelFault(other, key) !== undefined
}
