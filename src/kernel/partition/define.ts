import { zoneOf } from '../../time/zone.js'
import { refuse } from '../definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../definition/faults.js'
import { frozen } from '../definition/frozen.js'
import { textFault } from './label.js'
import {
  dimensionKinds,
  slicingOf,
  type CustomSpec,
  type Dimension,
  type KeysSpec,
  type PartitionSpec,
  type TimeKind,
  type TimeSpec,
  type TwoDimensionalSpec,
  type UnpartitionedSpec,
} from './spec.js'
import { isRefusal, parseSlice } from './text.js'
import { isMap, readChoice, readFlag, readOptions, timed, type Written } from '../definition/read-value.js'

/** The options of time partitions. */
export interface TimeOptions {
  /** The IANA zone of the partitions; default: `UTC`, never the host's zone. */
  readonly timezone?: string | undefined
  /** The label of the first one. */
  readonly start?: string | undefined
  /** The label of the last one. */
  readonly end?: string | undefined
  /** Whether a due instant stands for the partition before the one that contains it. */
  readonly previous?: boolean | undefined
}

/** How data is cut, as code or a file writes it: the kind of slices alone, or with its options. */
export type PartitionInput = DimensionInput | TwoDimensionalInput | UnpartitionedSpec

type DimensionInput = (typeof dimensionKinds)[number] | TimeInput | KeysSpec | CustomSpec

interface TimeInput extends TimeOptions {
  readonly kind: TimeKind
}

interface TwoDimensionalInput {
  readonly kind: 'two-dimensional'
  readonly first: DimensionInput
  readonly second: DimensionInput
}

/** One partition for every hour, such as `2025-01-15T14:00-05:00`. */
export function hourly(options: TimeOptions = {}): TimeSpec {
  return defineTime('hourly', options)
}

/** One partition for every day, such as `2025-01-15`. */
export function daily(options: TimeOptions = {}): TimeSpec {
  return defineTime('daily', options)
}

/** One partition for every ISO week, Monday to Sunday, such as `2026-W01`. */
export function weekly(options: TimeOptions = {}): TimeSpec {
  return defineTime('weekly', options)
}

/** One partition for every month, such as `2026-01`. */
export function monthly(options: TimeOptions = {}): TimeSpec {
  return defineTime('monthly', options)
}

/** One partition for every key of a list. */
export function byKeys(keys: readonly string[]): KeysSpec {
  return defined('partitions byKeys', (place) => readDimension({ kind: 'keys', keys }, place)) as KeysSpec
}

/** One partition for every pair, with labels such as `2025-01-15|eu`. */
export function twoDimensional(first: Dimension, second: Dimension): TwoDimensionalSpec {
  const written = { kind: 'two-dimensional', first, second }
  return defined('partitions twoDimensional', (place) => readSpec(written, place)) as TwoDimensionalSpec
}

/** Partitions with labels of your own; if a list is given, they can be listed and planned. */
export function custom(labels?: readonly string[]): CustomSpec {
  return defined('partitions custom', (place) =>
    readDimension({ kind: 'custom', labels }, place),
  ) as CustomSpec
}

/** Reads a frozen spec; records faults at the place and returns undefined if there are any. */
export function readPartitions(value: unknown, place: Place): PartitionSpec | undefined {
  const before = place.faults.length
  const spec = readSpec(value, place)
  return place.faults.length > before ? undefined : spec
}

function defineTime(kind: TimeKind, options: TimeOptions): TimeSpec {
  return defined(`partitions ${kind}`, (place) => {
    const input = readOptions(options, timeOptionNames, place)
    return input === undefined ? undefined : readTime(kind, input, place)
  })
}

function defined<T>(what: string, read: (place: Place) => T | undefined): T {
  const place = placeOf()
  const spec = read(place)
  refuse(what, place.faults)
  return spec as T
}

const specKinds = [...dimensionKinds, 'two-dimensional', 'unpartitioned'] as const

/** A full spec, or only the name of its kind for the defaults. */
function readSpec(value: unknown, place: Place): PartitionSpec | undefined {
  const kind = readKind(value, specKinds, place)
  const input = isMap(value) ? value : {}
  if (kind === undefined) return undefined
  if (kind === 'two-dimensional') return readTwoDimensional(input, place)
  if (kind !== 'unpartitioned') return readDimensionOf(kind, input, place)
  readOptions(input, ['kind'], place)
  return frozen({ kind })
}

function readKind<T extends string>(value: unknown, kinds: readonly T[], place: Place): T | undefined {
  const written = isMap(value) ? value['kind'] : value
  if (written === undefined) return fault(place, 'the kind is missing', `a kind: ${kinds.join(', ')}`)
  return readChoice(written, kinds, isMap(value) ? within(place, 'kind') : place)
}

function readTwoDimensional(input: Written, place: Place): TwoDimensionalSpec | undefined {
  readOptions(input, ['kind', 'first', 'second'], place)
  const first = readDimension(input['first'], within(place, 'first'))
  const second = readDimension(input['second'], within(place, 'second'))
  if (first === undefined || second === undefined) return undefined
  return frozen({ kind: 'two-dimensional', first, second })
}

function readDimension(value: unknown, place: Place): Dimension | undefined {
  const kind = readKind(value, dimensionKinds, place)
  return kind === undefined ? undefined : readDimensionOf(kind, isMap(value) ? value : {}, place)
}

function readDimensionOf(kind: Dimension['kind'], input: Written, place: Place): Dimension | undefined {
  switch (kind) {
    case 'keys': {
      readOptions(input, ['kind', 'keys'], place)
      const keys = readLabels(input['keys'], within(place, 'keys'))
      return keys === undefined ? undefined : frozen({ kind, keys })
    }
    case 'custom': {
      readOptions(input, ['kind', 'labels'], place)
      if (input['labels'] === undefined) return frozen({ kind })
      const labels = readLabels(input['labels'], within(place, 'labels'))
      return labels === undefined ? undefined : frozen({ kind, labels })
    }
    case 'hourly':
    case 'daily':
    case 'weekly':
    case 'monthly':
      readOptions(input, ['kind', ...timeOptionNames], place)
      return readTime(kind, input, place)
  }
}

const timeOptionNames = ['timezone', 'start', 'end', 'previous']

function readTime(kind: TimeKind, input: Written, place: Place): TimeSpec | undefined {
  const before = place.faults.length
  const timezone = timed(within(place, 'timezone'), () => zoneOf((input['timezone'] ?? 'UTC') as string).name)
  const previous = readFlag(input['previous'], within(place, 'previous')) ?? false
  if (timezone === undefined) return undefined
  const bounds = readBounds({ kind, timezone }, input, place)
  if (place.faults.length > before) return undefined
  return frozen({ kind, timezone, ...bounds, ...(previous ? { previous } : {}) })
}

function readBounds(spec: TimeSpec, input: Written, place: Place): Pick<TimeSpec, 'start' | 'end'> {
  const start = readBound(spec, input['start'], within(place, 'start'))
  const end = readBound(spec, input['end'], within(place, 'end'))
  if (start !== undefined && end !== undefined && end.fromAt < start.fromAt) {
    fault(within(place, 'end'), `${end.label} lies before the start`, `${start.label} or later`)
  }
  return {
    ...(start === undefined ? {} : { start: start.label }),
    ...(end === undefined ? {} : { end: end.label }),
  }
}

function readBound(
  spec: TimeSpec,
  value: unknown,
  place: Place,
): { readonly label: string; readonly fromAt: number } | undefined {
  if (value === undefined) return undefined
  const slice = parseSlice(slicingOf(spec), value)
  return isRefusal(slice) ? fault(place, slice.refused, slice.allowed) : slice
}

const mostLabels = 10_000
const labelsAllowed = `a list of 1 to ${mostLabels} different texts`

function readLabels(value: unknown, place: Place): readonly string[] | undefined {
  const before = place.faults.length
  if (!Array.isArray(value) || value.length === 0 || value.length > mostLabels) {
    const size = Array.isArray(value) ? `a list of ${value.length}` : shown(value)
    return fault(place, `${size} is not a list of labels`, labelsAllowed)
  }
  const seen = new Map<unknown, number>()
  for (const [index, label] of value.entries()) {
    const problem = textFault(label)
    const other = seen.get(label)
    if (problem !== undefined) fault(within(place, index), problem.refused, problem.allowed)
    else if (other !== undefined)
      fault(within(place, index), `${shown(label)} duplicates [${other}]`, 'each once')
    seen.set(label, index)
  }
  return place.faults.length > before ? undefined : [...(value as readonly string[])]
}
