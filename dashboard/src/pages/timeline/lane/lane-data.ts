/** Converts the server's answers about a trigger into points, bars and bands. */
import type { Hold, Lane, Timeline } from '../../../../../src/client/ui-operations.js'
import type { Mark } from '../../../design/marks.js'
import { words } from '../../../words/timeline.js'
import type { Tile } from '../tiles.js'
import type { Bar, Point } from './points.js'

/** A hold, drawn as a band behind the marks. */
export interface Band {
  readonly fromMs: number
  /** Infinity if it has no end. */
  readonly untilMs: number
  readonly text: string
  /** The reason that due times inside it are recorded with. */
  readonly mark: Mark
}

/** Everything on one lane. */
export interface LaneData {
  readonly name: string
  readonly job: string
  readonly state: Lane['trigger']['state']
  readonly zone: string | undefined
  readonly points: readonly Point[]
  readonly bars: readonly Bar[]
  readonly bands: readonly Band[]
  /** The bands of holds that apply to all lanes. */
  readonly shared: readonly Band[]
  /** The answers it was built from. */
  readonly answers: readonly Lane[]
}

/** A tile of time and the server's answer for it. */
export interface Piece {
  readonly tile: Tile
  readonly answer: Timeline
}

/**
 * Builds the lanes from pieces that are ordered by time, by name. The newest answer decides the state of a lane. A lane
 * whose answers are the same as in `before` stays the same object, so that cached drawings stay valid.
 */
export function lanesOf(
  pieces: readonly Piece[],
  before: ReadonlyMap<string, LaneData> = new Map(),
): ReadonlyMap<string, LaneData> {
  const parts = new Map<string, LanePart[]>()
  for (const piece of pieces) {
    for (const lane of piece.answer.lanes) {
      const known = parts.get(lane.trigger.name)
      if (known === undefined) parts.set(lane.trigger.name, [{ lane, piece }])
      else known.push({ lane, piece })
    }
  }
  const holds = uniqueBy(
    pieces.flatMap(({ answer }) => answer.holds),
    holdKey,
  ).map(bandOf)
  const shared = before.values().next().value?.shared
  const bands = shared !== undefined && JSON.stringify(shared) === JSON.stringify(holds) ? shared : holds
  return new Map(
    [...parts].map(([name, lanes]) => {
      const known = before.get(name)
      const isSame =
        known?.shared === bands &&
        known.answers.length === lanes.length &&
        lanes.every(({ lane }, index) => lane === known.answers[index])
      return [name, isSame ? known : laneData(name, lanes, bands)]
    }),
  )
}

interface LanePart {
  readonly lane: Lane
  readonly piece: Piece
}

function laneData(name: string, lanes: readonly LanePart[], shared: readonly Band[]): LaneData {
  const newest = lanes.reduce((one, other) =>
    other.piece.answer.at > one.piece.answer.at ? other : one,
  ).lane
  const ranges = uniqueBy(
    lanes.flatMap(({ lane }) => lane.ranges),
    ({ firstAt, reason, version }) => `${firstAt} ${reason} ${version}`,
  )
  const split = ranges.map(rangeParts)
  const held = uniqueBy(
    lanes.flatMap(({ lane }) => lane.holds),
    holdKey,
  )
  const bands = [...held.map(bandOf), ...shared]
  const nowMs = Math.max(...lanes.map(({ piece }) => Date.parse(piece.answer.at)))
  const points = [...lanes.flatMap(pointsOf), ...split.flatMap(({ point }) => point ?? [])]
  return {
    name,
    job: newest.trigger.job,
    state: newest.trigger.state,
    zone: newest.timezone ?? undefined,
    points: points
      .map((point) => withHold(point, bands, nowMs))
      .toSorted((one, other) => one.fromMs - other.fromMs),
    bars: [...split.flatMap(({ bar }) => bar ?? []), ...joined(lanes.flatMap(crowdOf))],
    bands,
    shared,
    answers: lanes.map(({ lane }) => lane),
  }
}

/** Points for due times that an open hold holds back: the ledger records them only when the hold ends. */
function withHold(point: Point, bands: readonly Band[], nowMs: number): Point {
  if (point.tally.due === undefined || point.fromMs > nowMs) return point
  const band = bands.find(({ fromMs, untilMs }) => fromMs <= point.fromMs && point.fromMs < untilMs)
  return band === undefined ? point : { ...point, tally: { [band.mark]: 1 }, rule: band.text }
}

const pointsOfLane = new WeakMap<Lane, readonly Point[]>()

/** Runs and future due times. A piece includes its start and excludes its end, which is the start of the next one. */
function pointsOf({ lane, piece }: LanePart): readonly Point[] {
  const known = pointsOfLane.get(lane)
  if (known !== undefined) return known
  const { fromMs, untilMs } = piece.tile
  const { bucketMs } = piece.answer
  const runs = (lane.marks ?? []).map(({ id, state, dueAt, startedAt, finishedAt }): Point => {
    const atMs = Date.parse(dueAt)
    const run = { id, startedMs: parsed(startedAt), finishedMs: parsed(finishedAt) }
    return { fromMs: atMs, untilMs: atMs, tally: { [state]: 1 }, run }
  })
  const counted = (lane.buckets ?? []).map(({ bucketAt, ...counts }): Point => {
    const atMs = Date.parse(bucketAt)
    const tally = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
    return { fromMs: atMs, untilMs: atMs + bucketMs, tally }
  })
  const due = isCrowded(lane, untilMs) ? [] : lane.due
  const coming = due.map(({ at, change, excluded }): Point => {
    const atMs = Date.parse(at)
    const point = { fromMs: atMs, untilMs: atMs, tally: { [excluded ?? 'due']: 1 } }
    return change === null ? point : { ...point, change: words.change(change) }
  })
  const points = [...runs, ...counted, ...coming].filter(
    (point) => point.fromMs >= fromMs && point.fromMs < untilMs,
  )
  pointsOfLane.set(lane, points)
  return points
}

/** Whether a piece has more future due times than the server lists. */
function isCrowded({ due, dueUntil }: Lane, untilMs: number): boolean {
  return due.length > 1 && Date.parse(dueUntil) < untilMs
}

/** One bar with the rate per hour, for more future due times than the server lists. */
function crowdOf({ lane, piece }: LanePart): readonly Bar[] {
  const { fromMs, untilMs } = piece.tile
  const firstMs = Date.parse(lane.due[0]?.at ?? '')
  if (!isCrowded(lane, untilMs)) return []
  const perHour = ((lane.due.length - 1) * 3_600_000) / (Date.parse(lane.dueUntil) - firstMs)
  return [{ fromMs: Math.max(fromMs, firstMs), untilMs, mark: 'due', text: words.perHour(perHour) }]
}

/** Joins bars of adjacent pieces. */
function joined(bars: readonly Bar[]): readonly Bar[] {
  const all: Bar[] = []
  for (const bar of bars) {
    const last = all.at(-1)
    if (last !== undefined && bar.fromMs - last.untilMs < 60_000)
      all[all.length - 1] = { ...last, untilMs: bar.untilMs }
    else all.push(bar)
  }
  return all
}

/** A range of one due time becomes a point, a longer one a bar. */
function rangeParts({ firstAt, lastAt, reason, rule, detail }: Lane['ranges'][number]): {
  point?: Point
  bar?: Bar
} {
  const [fromMs, untilMs] = [Date.parse(firstAt), Date.parse(lastAt)]
  const mark: Mark = reason
  const isPlain = detail !== null && detail !== '' && !rule.startsWith('round:')
  if (fromMs === untilMs) return { point: { fromMs, untilMs, tally: { [mark]: 1 }, rule } }
  return {
    // Details of rounds contain times in UTC; only the why panel shows them in the chosen zone.
    bar: { fromMs, untilMs, mark, text: isPlain ? `${rule} · ${detail}` : rule },
  }
}

function bandOf({ target, fromAt, untilAt, by, note }: Hold): Band {
  const text = note === '' ? words.heldBy(target, by) : `${words.heldBy(target, by)}: ${note}`
  const mark = target === 'all' ? 'frozen' : target.startsWith('switch:') ? 'switch' : 'paused'
  return {
    fromMs: Date.parse(fromAt),
    untilMs: untilAt === null ? Infinity : Date.parse(untilAt),
    text,
    mark,
  }
}

function holdKey({ target, fromAt }: Hold): string {
  return `${target} ${fromAt}`
}

/** Keeps the last item of each key, which is the newest answer. */
function uniqueBy<One>(all: readonly One[], keyOf: (one: One) => string): readonly One[] {
  return [...new Map(all.map((one) => [keyOf(one), one])).values()]
}

function parsed(text: string | null): number | undefined {
  return text === null ? undefined : Date.parse(text)
}
