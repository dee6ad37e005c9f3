import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './civil.js'
import type { Instant } from './instant.js'
import { assertZoneName, spellZoneName, unknownZone } from './zone-name.js'

/** The first instant of the calendar that schedules work on: 1970-01-01. */
export const CALENDAR_START: Instant = 0
/** The instant at which that calendar ends: 2200-01-01. */
export const CALENDAR_END: Instant = 7_258_118_400_000

/** A span of time with one offset. */
export interface Segment {
  readonly startAt: Instant
  /** The first instant after it. */
  readonly endAt: Instant
  /** Local time minus UTC, in milliseconds. */
  readonly offsetMs: number
  /** The offset just before `startAt`; equal to `offsetMs` if the span was only cut there. */
  readonly offsetBeforeMs: number
}

/** An instant at which a zone's offset changes. */
interface Transition {
  readonly at: Instant
  readonly offsetBefore: number
  readonly offsetAfter: number
}

/** The instants of a local time: one, none because clocks skipped it, or two because they went back. */
export type Resolution =
  | { readonly kind: 'unique'; readonly at: Instant }
  | {
      readonly kind: 'gap'
      /** The local time read with the offset after the jump, which gives an instant before it. */
      readonly before: Instant
      /** The local time read with the offset before the jump, which gives an instant after it. */
      readonly after: Instant
      readonly jumpAt: Instant
    }
  | { readonly kind: 'overlap'; readonly first: Instant; readonly second: Instant }

/** The civil time of one region, exact for every instant from 1970 to the end of 2199. */
export interface Zone {
  readonly name: string
  /** Local time minus UTC at an instant, in milliseconds. */
  offsetAt(at: Instant): number
  /** The civil time at an instant, in milliseconds as if it were UTC. */
  toLocal(at: Instant): number
  /** The instants that a civil time names. */
  resolve(localMs: number): Resolution
  /** The first change of offset strictly later than `after` and before `until`. */
  nextTransition(after: Instant, until?: Instant): Transition | undefined
  /** The span of one offset around an instant; a long span may come in several pieces. */
  segmentAt(at: Instant): Segment
}

/**
 * A cache of immutable values: sampling a zone takes milliseconds. It is keyed by names that Intl
 * accepted in their usual spelling, so it cannot outgrow the list of IANA names.
 */
const zones = new Map<string, Zone>()

/** The zone of an IANA name, written in any case. */
export function zoneOf(name: string): Zone {
  const known = zones.get(name)
  if (known !== undefined) return known
  assertZoneName(name)
  const spelled = spellZoneName(name)
  const zone = zones.get(spelled) ?? openZone(spelled, name)
  zones.set(spelled, zone)
  return zone
}

/** The version of the time zone data that this process computes with. */
export function tzdataVersion(): string {
  return process.versions['tz'] ?? 'unknown'
}

/** UTC needs no sampling, and a process that uses no other zone never loads Intl. */
const ALL_OF_UTC: Segment = { startAt: -Infinity, endAt: Infinity, offsetMs: 0, offsetBeforeMs: 0 }

function openZone(spelled: string, written: string): Zone {
  if (spelled === 'UTC') return new SampledZone(spelled, () => 0, ALL_OF_UTC)
  try {
    return new SampledZone(spelled, offsetReader(spelled), NO_SEGMENT)
  } catch (error) {
    if (error instanceof RangeError) throw unknownZone(written)
    throw error
  }
}

function offsetReader(name: string): (at: Instant) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    minute: 'numeric',
    timeZoneName: 'longOffset',
  })
  return (at) => parseOffset(format.format(at))
}

/** The length of the pieces in which a zone is explored, a little over a year. */
const PIECE_MS = 400 * DAY_MS
/**
 * Offsets are sampled this far apart. A change would be missed only if another one undid it within one step; from
 * 1970 to 2100 no two changes of any zone lie closer than 6 days and 23 hours (Asia/Gaza, October 2040).
 */
const SAMPLE_STEP_MS = 2 * DAY_MS
/** No local time is further from UTC than this. */
const MAX_OFFSET_MS = 26 * HOUR_MS

/** Contains no instant, so that the first lookup misses. */
const NO_SEGMENT: Segment = { startAt: Infinity, endAt: -Infinity, offsetMs: 0, offsetBeforeMs: 0 }

class SampledZone implements Zone {
  readonly name: string
  readonly #readOffset: (at: Instant) => number
  readonly #pieces: (readonly Segment[] | undefined)[] = []
  /** The last segment returned, since lookups come in clusters. */
  #recent: Segment

  constructor(name: string, readOffset: (at: Instant) => number, recent: Segment) {
    this.name = name
    this.#readOffset = readOffset
    this.#recent = recent
  }

  offsetAt(at: Instant): number {
    if (at >= CALENDAR_START && at < CALENDAR_END) return this.segmentAt(at).offsetMs
    return this.#readOffset(at)
  }

  toLocal(at: Instant): number {
    return at + this.offsetAt(at)
  }

  resolve(localMs: number): Resolution {
    let first: Instant | undefined
    let gap: Segment | undefined
    let segment = this.segmentAt(localMs - MAX_OFFSET_MS)
    for (;;) {
      const { startAt, endAt, offsetMs, offsetBeforeMs } = segment
      const at = localMs - offsetMs
      if (at >= startAt && at < endAt) {
        if (first !== undefined) return { kind: 'overlap', first, second: at }
        first = at
      } else if (at < startAt && localMs - offsetBeforeMs >= startAt) {
        gap = segment
      }
      if (endAt > localMs + MAX_OFFSET_MS) break
      segment = this.segmentAt(endAt)
    }
    if (first !== undefined) return { kind: 'unique', at: first }
    if (gap === undefined) throw new RangeError(`${localMs} is not a local time`)
    return {
      kind: 'gap',
      before: localMs - gap.offsetMs,
      after: localMs - gap.offsetBeforeMs,
      jumpAt: gap.startAt,
    }
  }

  nextTransition(after: Instant, until: Instant = CALENDAR_END): Transition | undefined {
    const limit = Math.min(until, CALENDAR_END)
    let { endAt } = this.segmentAt(Math.max(after, CALENDAR_START))
    while (endAt < limit) {
      const segment = this.segmentAt(endAt)
      if (segment.offsetMs !== segment.offsetBeforeMs) {
        return { at: endAt, offsetBefore: segment.offsetBeforeMs, offsetAfter: segment.offsetMs }
      }
      endAt = segment.endAt
    }
    return undefined
  }

  segmentAt(at: Instant): Segment {
    const recent = this.#recent
    if (at >= recent.startAt && at < recent.endAt) return recent
    for (const segment of this.#pieceAt(Math.floor(at / PIECE_MS))) {
      if (at < segment.endAt) {
        this.#recent = segment
        return segment
      }
    }
    throw new RangeError(`${at} is not an instant`)
  }

  #pieceAt(index: number): readonly Segment[] {
    const known = this.#pieces[index]
    if (known !== undefined) return known
    const startAt = index * PIECE_MS
    const piece = exploreOffsets(this.#readOffset, startAt, startAt + PIECE_MS)
    // Pieces outside the calendar are not cached, so that the cache stays bounded.
    if (startAt >= CALENDAR_START && startAt < CALENDAR_END) this.#pieces[index] = piece
    return piece
  }
}

function exploreOffsets(readOffset: (at: Instant) => number, startAt: Instant, endAt: Instant): Segment[] {
  const segments: Segment[] = []
  let current = { startAt, offsetMs: readOffset(startAt), offsetBeforeMs: readOffset(startAt - SECOND_MS) }
  for (let at = startAt; at < endAt; at += SAMPLE_STEP_MS) {
    const last = at + SAMPLE_STEP_MS - SECOND_MS
    const offsetMs = readOffset(last)
    if (offsetMs === current.offsetMs) continue
    const changeAt = findChange(readOffset, at - SECOND_MS, last)
    segments.push({ ...current, endAt: changeAt })
    current = { startAt: changeAt, offsetMs, offsetBeforeMs: current.offsetMs }
  }
  segments.push({ ...current, endAt })
  return segments
}

/** The first whole second with the offset of `high`, by bisection. */
function findChange(readOffset: (at: Instant) => number, low: Instant, high: Instant): Instant {
  const offsetAfter = readOffset(high)
  let before = low
  let after = high
  while (after - before > SECOND_MS) {
    const middle = before + Math.floor((after - before) / (2 * SECOND_MS)) * SECOND_MS
    if (readOffset(middle) === offsetAfter) after = middle
    else before = middle
  }
  return after
}

/** Reads the offset at the end of a text such as `15 GMT-00:44:30`; plain `GMT` is zero. */
function parseOffset(text: string): number {
  const signAt = text.indexOf('GMT') + 3
  if (signAt >= text.length) return 0
  const twoDigits = (at: number): number =>
    at + 1 < text.length ? (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48 : 0
  const ms =
    twoDigits(signAt + 1) * HOUR_MS + twoDigits(signAt + 4) * MINUTE_MS + twoDigits(signAt + 7) * SECOND_MS
  return text.charCodeAt(signAt) === 45 ? -ms : ms
}
