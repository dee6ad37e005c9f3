import type { Instant } from '../../time/instant.js'
import { CALENDAR_END, CALENDAR_START } from '../../time/zone.js'
import { RotaError } from '../definition/errors.js'
import { shown } from '../definition/faults.js'
import { shiftSlice, sliceAt, sliceBefore, type Slice } from './slice.js'
import {
  dimensionsOf,
  isTime,
  slicingOf,
  wholeLabel,
  writtenLabels,
  type Dimension,
  type PartitionSpec,
  type TimeSpec,
} from './spec.js'
import { isRefusal, parseSlice, type Refusal } from './text.js'

/**
 * The label of an instant in the zone of the spec: the whole for data that is not partitioned,
 * undefined if time alone does not determine the partition, and outside the spec's start and end.
 */
export function labelAt(spec: PartitionSpec, at: Instant): string | undefined {
  if (spec.kind === 'unpartitioned') return wholeLabel
  if (!isTime(spec) || at < CALENDAR_START || at >= CALENDAR_END) return undefined
  const slicing = slicingOf(spec)
  const here = sliceAt(slicing, at)
  const slice = spec.previous === true ? sliceBefore(slicing, here) : here
  if (slice === undefined) return undefined
  const { fromAt, untilAt } = boundsOf(spec)
  return slice.untilAt > fromAt && slice.fromAt < untilAt ? slice.label : undefined
}

/** The slice of time of a label; throws if the label is invalid. */
export function sliceOf(spec: TimeSpec, label: string): Slice {
  const slice = readSlice(spec, label)
  if (isRefusal(slice)) throw invalidLabel(slice)
  return slice
}

/** Why a label is not a partition of a spec, and what would be; undefined if it is one. */
export function labelFault(spec: PartitionSpec, label: unknown): Refusal | undefined {
  return labelCheck(spec)(label)
}

/** The same check for many labels of one spec, prepared once. */
export function labelCheck(spec: PartitionSpec): (label: unknown) => Refusal | undefined {
  const checks = dimensionsOf(spec).map(dimensionCheck)
  const [first, second] = checks
  if (first === undefined) {
    const allowed = 'no partition, since the data has none'
    return (label) =>
      label === wholeLabel ? undefined : { refused: `${shown(label)} is a partition`, allowed }
  }
  if (second === undefined) return first
  return (label) => {
    const parts = typeof label === 'string' ? splitLabel(label) : undefined
    if (parts === undefined)
      return { refused: `${shown(label)} is not a pair of labels`, allowed: pairAllowed }
    return first(parts[0]) ?? second(parts[1])
  }
}

/** Throws if a label is not a partition of a spec. */
export function assertLabel(spec: PartitionSpec, label: string): void {
  const refused = labelFault(spec, label)
  if (refused !== undefined) throw invalidLabel(refused)
}

/** The error of an invalid label. */
export function invalidLabel({ refused, allowed }: Refusal): RotaError {
  return new RotaError('PARTITION_INVALID', `${refused} (allowed: ${allowed})`)
}

/** The label of a pair; no two pairs have the same one. */
export function joinLabel(first: string, second: string): string {
  return `${escaped(first)}|${escaped(second)}`
}

/** The pair of a label; undefined if it was not made by `joinLabel`. */
export function splitLabel(label: string): readonly [string, string] | undefined {
  const match = /^((?:[^|\\]|\\[|\\])*)\|((?:[^|\\]|\\[|\\])*)$/.exec(label)
  if (match === null) return undefined
  return [unescaped(match[1] ?? ''), unescaped(match[2] ?? '')]
}

/** The labels of a label's dimensions, in order: none, one or two. */
export function partsOf(spec: PartitionSpec, label: string): readonly string[] {
  if (spec.kind === 'unpartitioned') return []
  return spec.kind === 'two-dimensional' ? (splitLabel(label) ?? []) : [label]
}

/** The label `by` slices later, or earlier if negative; undefined beyond the start, the end or the calendar. */
export function shiftLabel(spec: TimeSpec, label: string, by: number): string | undefined {
  const slice = shiftSlice(slicingOf(spec), sliceOf(spec, label), by)
  if (slice === undefined) return undefined
  return isRefusal(readSlice(spec, slice.label)) ? undefined : slice.label
}

/** The time range of a spec: from its start to its end, within the calendar. */
export function boundsOf(spec: TimeSpec): Omit<Slice, 'label'> {
  const { start, end } = spec
  return {
    fromAt: start === undefined ? CALENDAR_START : Math.max(CALENDAR_START, parsed(spec, start).fromAt),
    untilAt: end === undefined ? CALENDAR_END : Math.min(CALENDAR_END, parsed(spec, end).untilAt),
  }
}

function parsed(spec: TimeSpec, label: string): Slice {
  const slice = parseSlice(slicingOf(spec), label)
  if (isRefusal(slice)) throw invalidLabel(slice)
  return slice
}

const longestLabel = 256
const textAllowed = `a text of 1 to ${longestLabel} characters, without control characters and without spaces at its ends`
const pairAllowed = 'two labels with | between them, and a \\ before every | or \\ inside them'

/** Why a text cannot be a key or a custom label, and what could. */
export function textFault(value: unknown): Refusal | undefined {
  const isFitting =
    typeof value === 'string' &&
    value.length >= 1 &&
    value.length <= longestLabel &&
    value.trim() === value &&
    !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value)
  return isFitting ? undefined : { refused: `${shown(value)} cannot be a label`, allowed: textAllowed }
}

function dimensionCheck(dimension: Dimension): (label: unknown) => Refusal | undefined {
  if (isTime(dimension)) {
    return (label) => {
      const slice = readSlice(dimension, label)
      return isRefusal(slice) ? slice : undefined
    }
  }
  const labels = writtenLabels(dimension)
  if (labels === undefined) return textFault
  const known = membersOf(labels)
  const allowed = labels.length > 20 ? `one of its ${labels.length} labels` : labels.join(', ')
  return (label) => (known.has(label) ? undefined : { refused: `${shown(label)} is not allowed`, allowed })
}

const members = new WeakMap<readonly string[], ReadonlySet<unknown>>()

/** The labels of a list as a set, built once for each list: checking every label must not scan the list each time. */
function membersOf(labels: readonly string[]): ReadonlySet<unknown> {
  const known = members.get(labels) ?? new Set(labels)
  members.set(labels, known)
  return known
}

function readSlice(spec: TimeSpec, label: unknown): Slice | Refusal {
  const slice = parseSlice(slicingOf(spec), label)
  if (isRefusal(slice)) return slice
  const { fromAt, untilAt } = boundsOf(spec)
  if (slice.untilAt <= fromAt) {
    return { refused: `${shown(label)} is before the first partition`, allowed: `${spec.start} or later` }
  }
  if (slice.fromAt >= untilAt) {
    return { refused: `${shown(label)} is after the last partition`, allowed: `${spec.end} or earlier` }
  }
  return slice
}

function escaped(label: string): string {
  return label.replace(/[|\\]/g, '\\$&')
}

function unescaped(label: string): string {
  return label.replace(/\\([|\\])/g, '$1')
}
