import type { Instant } from '../../../../time/instant.js'
import { markOf, markText, binCount, BinDigest, type Mark } from './bins.js'
import { flag, listOf, mapOf, number, orNull, text, type StateOf } from '../state-table.js'

/**
 * A sweep examines everything that a sensor watches once, over as many polls as needed. It must not
 * miss an item, or report all of them again each time, and its state must stay small. Hence:
 *
 * - Items that changed since shortly before the start of the previous sweep are **fresh** and are reported.
 * - Of all older items only a digest is stored. A bin that differs from the previous sweep has an item that
 *   arrived with an old time (a long upload, a moved directory, a wrong clock) or was removed; the next
 *   sweep reports this bin once more, and the store ignores the keys that it
 *   already knows (`seen` of the store port).
 * - Items that have not settled are left out of both, so that they are fresh once they have.
 *
 * So an item is found whatever its time is. Times only determine how soon, and how much is reported unnecessarily.
 */

/** One item of a sweep. */
export interface Item {
  /** Its identity, including its version if versions count. */
  readonly identity: string
  readonly changedAt: Instant
  /** The position at which a sweep resumes after it. */
  readonly position: string
}

/** The current sweep. */
const openSweep = mapOf({
  startedAt: number,
  nextFreshAt: number,
  position: text,
  from: text,
  /** Whether there was an item that has to be examined again, so that `from` stays before it. */
  isHeld: flag,
  looked: number,
  young: number,
  old: text,
  next: text,
  nextCount: number,
  rechecking: listOf(number),
  failing: listOf(text),
  complaint: orNull(text),
})

/** The state of a sweeping sensor. */
export const sweepState = mapOf({
  /** A digest of the settings; with other settings the sensor starts again. */
  source: text,
  /** The number of completed sweeps. */
  sweeps: number,
  /** Items that changed before are left out; null if none are. */
  floorAt: orNull(number),
  /** The marks of items that changed at the floor or later but existed at the start. */
  present: listOf(text),
  /** Items that changed at this instant or later are fresh; null if all are. */
  freshAt: orNull(number),
  /** Items up to this position are not examined again. */
  from: text,
  /** The digest and the number of items that will not be fresh. */
  known: text,
  knownCount: number,
  /** Bins that have to be reported once more. */
  recheck: listOf(number),
  /** The marks of items that could not be reported, to be retried. */
  failing: listOf(text),
  /** An error that the next poll reports first. */
  complaint: orNull(text),
  open: orNull(openSweep),
})

/** The state of a sweeping sensor. */
export type SweepState = StateOf<typeof sweepState>

type OpenSweep = StateOf<typeof openSweep>

/** The options of sweeps. */
export interface SweepOptions {
  readonly settleMs: number
  /** If set, positions sort by time, and older items are not examined again. */
  readonly lookBackMs?: number | undefined
  readonly startFrom: 'beginning' | 'now'
}

/** The initial state of a sweeping sensor. */
export function firstSweepState(source: string): SweepState {
  return {
    source,
    sweeps: 0,
    floorAt: null,
    present: [],
    freshAt: null,
    from: '',
    known: '',
    knownCount: 0,
    recheck: [],
    failing: [],
    complaint: null,
    open: null,
  }
}

/** The position after which the sweep resumes. */
export function positionOf(state: SweepState): string {
  return state.open?.position ?? state.from
}

/** The decision about an item. */
export type Verdict =
  | { readonly kind: 'young' }
  | {
      readonly kind: 'known' | 'new'
      readonly mark: Mark
      /** Whether it existed before the sensor started. */
      readonly isPresent?: boolean
      /** Whether its time is in the future. It counts as old, or it would be fresh in every sweep until then. */
      readonly isAhead?: boolean
    }

/** The tolerated difference between the clocks of one system. */
const marginMs = 10_000
/** How many items are reported once more in one sweep, unless a single bin is larger. */
const recheckBudget = 10_000
const maxFailing = 20
const maxPresent = 100

/** A sweep during one poll: started or resumed from the state, and written back to it. */
export class Sweep {
  readonly #options: SweepOptions
  readonly #state: SweepState
  readonly #open: { -readonly [K in keyof OpenSweep]: OpenSweep[K] }
  readonly #old: BinDigest
  readonly #next: BinDigest
  readonly #rechecking: ReadonlySet<number>
  readonly #retried: ReadonlySet<string>
  readonly #present: Set<string>

  constructor(state: SweepState, options: SweepOptions, at: Instant) {
    this.#options = options
    this.#open = { ...(state.open ?? openedAt(state, options, at)) }
    const isFirst = state.sweeps === 0 && state.open === null && options.startFrom === 'now'
    // Some stores truncate times to seconds.
    this.#state = isFirst ? { ...state, floorAt: at - (at % 1000) } : state
    this.#old = new BinDigest(this.#open.old)
    this.#next = new BinDigest(this.#open.next)
    this.#rechecking = new Set(this.#open.rechecking)
    this.#retried = new Set(state.failing)
    this.#present = new Set(state.present)
  }

  /** Decides whether an item is reported. Changes nothing. */
  weigh(item: Item, at: Instant): Verdict {
    const { settleMs } = this.#options
    if (settleMs > 0 && item.changedAt > at - settleMs) return { kind: 'young' }
    const mark = markOf(item.identity)
    const { floorAt, freshAt, sweeps } = this.#state
    if (floorAt !== null) {
      if (item.changedAt < floorAt) return { kind: 'known', mark }
      if (this.#present.has(presenceOf(item))) return { kind: 'known', mark }
      if (sweeps === 0 && this.#present.size < maxPresent) return { kind: 'known', mark, isPresent: true }
    }
    const isAhead = item.changedAt > at + marginMs
    const isFresh = freshAt === null || (item.changedAt >= freshAt && !isAhead)
    const isNew = isFresh || this.#rechecking.has(mark.bin) || this.#retried.has(markText(mark))
    return { kind: isNew ? 'new' : 'known', mark, isAhead }
  }

  /** Advances past an item that was decided, and reported if it is new. */
  pass(item: Item, verdict: Verdict): void {
    const { lookBackMs } = this.#options
    const open = this.#open
    this.moveTo(item.position)
    open.looked++
    if (verdict.kind === 'young') {
      open.young++
      open.isHeld = true
      return
    }
    if (verdict.isPresent === true) this.#present.add(presenceOf(item))
    const { freshAt } = this.#state
    const changedAt = verdict.isAhead === true ? -Infinity : item.changedAt
    if (freshAt !== null && changedAt < freshAt) this.#old.toggle(verdict.mark)
    if (lookBackMs !== undefined && !open.isHeld && item.changedAt < open.startedAt - lookBackMs) {
      open.from = item.position
      return
    }
    open.isHeld = true
    if (changedAt >= open.nextFreshAt) return
    this.#next.toggle(verdict.mark)
    open.nextCount++
  }

  /** Advances past an item that cannot be reported and is retried in each sweep; returns false if there are too many. */
  fail(item: Item, problem: string): boolean {
    const open = this.#open
    if (open.failing.length >= maxFailing) return false
    const mark = markOf(item.identity)
    open.failing = [...open.failing, markText(mark)]
    open.isHeld = true
    if (!this.#retried.has(markText(mark))) open.complaint ??= problem.slice(0, 500)
    this.pass(item, { kind: 'known', mark })
    return true
  }

  /** Advances to a position without an item. */
  moveTo(position: string): void {
    this.#open.position = position
  }

  get position(): string {
    return this.#open.position
  }

  /** A summary of the sweep for the poll history. */
  get summary(): string {
    const { looked, young, failing } = this.#open
    const notes = [
      `${looked} examined`,
      ...(young > 0 ? [`${young} not settled yet`] : []),
      ...(failing.length > 0 ? [`${failing.length} that cannot be reported`] : []),
    ]
    return notes.join(', ')
  }

  /** The state with the sweep in progress. */
  paused(): SweepState {
    const open = { ...this.#open, old: this.#old.toText(), next: this.#next.toText() }
    return { ...this.#state, present: [...this.#present], open }
  }

  /** The state with the sweep complete. */
  ended(): SweepState {
    const { recheck, known, sweeps } = this.#state
    const { nextFreshAt, from, nextCount, failing, complaint } = this.#open
    const waiting = recheck.filter((bin) => !this.#rechecking.has(bin))
    const differing = this.#old.differing(new BinDigest(known))
    return {
      ...this.#state,
      sweeps: sweeps + 1,
      present: [...this.#present],
      freshAt: nextFreshAt,
      from,
      known: this.#next.toText(),
      knownCount: nextCount,
      recheck: [...new Set([...waiting, ...differing])].toSorted((a, b) => a - b),
      failing,
      complaint,
      open: null,
    }
  }
}

function openedAt(state: SweepState, options: SweepOptions, at: Instant): OpenSweep {
  return {
    startedAt: at,
    nextFreshAt: at - options.settleMs - marginMs,
    position: state.from,
    from: state.from,
    isHeld: false,
    looked: 0,
    young: 0,
    old: '',
    next: '',
    nextCount: 0,
    rechecking: binsToRecheck(state),
    failing: [],
    complaint: null,
  }
}

/** As many bins as the budget allows, starting at another bin each time, so that none waits forever. */
function binsToRecheck({ recheck, knownCount, sweeps }: SweepState): readonly number[] {
  const allowed = Math.max(1, Math.floor((binCount * recheckBudget) / Math.max(1, knownCount)))
  const first = sweeps % binCount
  const turned = [...recheck.filter((bin) => bin >= first), ...recheck.filter((bin) => bin < first)]
  return turned.slice(0, allowed)
}

/** The mark of an item that existed at the start; a changed item has another mark. */
function presenceOf(item: Item): string {
  return markText(markOf(`${item.identity}@${item.changedAt}`))
}
