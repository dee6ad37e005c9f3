/** A selection: some lanes, one below the other, and a stretch of time. */
import type { Mark } from '../../../design/marks.js'
import type { View } from '../axis/view.js'
import type { LaneData } from './lane-data.js'
import { addTally, type Counting, type Tally } from './points.js'

/** What is selected: from the first lane to the last one, and from when to when. */
export interface Selection extends View {
  readonly first: string
  readonly last: string
}

/** The names of the selected lanes; the two ends may stand in any order. */
export function selectedNames(names: readonly string[], { first, last }: Selection): readonly string[] {
  const [one, other] = [names.indexOf(first), names.indexOf(last)]
  if (one < 0 || other < 0) return one < 0 && other < 0 ? [] : [one < 0 ? last : first]
  return names.slice(Math.min(one, other), Math.max(one, other) + 1)
}

/** How many instants of each state lie in a stretch of some lanes. A range counts once: the server knows its instants. */
export function tallyIn(lanes: readonly LaneData[], { fromMs, untilMs }: View): Tally {
  const sum: Counting = {}
  for (const { points, bars } of lanes) {
    for (const point of points) {
      if (point.fromMs <= untilMs && point.untilMs >= fromMs) addTally(sum, point.tally)
    }
    for (const bar of bars) {
      if (bar.fromMs <= untilMs && bar.untilMs >= fromMs) addTally(sum, { [bar.mark]: 1 })
    }
  }
  return sum
}

/** The states that a reader acts on, before those that are fine. */
export const order: readonly Mark[] = [
  'failed',
  'unexplained',
  'missed',
  'running',
  'pending',
  'paused',
  'frozen',
  'switch',
  'blackout',
  'calendar',
  'overlap',
  'collapsed',
  'cancelled',
  'due',
  'done',
  'pruned',
  'checked',
]

/** A selection as parameters of the address. */
export function selectionParams(selection: Selection | undefined): Readonly<Record<string, string | null>> {
  if (selection === undefined) return { select: null, on: null, to: null }
  const { fromMs, untilMs, first, last } = selection
  const iso = (ms: number): string => new Date(Math.round(ms)).toISOString()
  return { select: `${iso(fromMs)}..${iso(untilMs)}`, on: first, to: last === first ? null : last }
}

/** Reads a selection from the parameters of the address. */
export function readSelection(params: URLSearchParams): Selection | undefined {
  const [from = '', until = ''] = (params.get('select') ?? '').split('..')
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(until)]
  const first = params.get('on')
  if (first === null || first === '' || !(fromMs <= untilMs)) return undefined
  return { fromMs, untilMs, first, last: params.get('to') ?? first }
}
