import type { Instant } from '../../../time/instant.js'
import { markOf, markText, binCount, BinDigest, type Mark } from './bins.js'

/**
 * A sweep is one complete look at everything that a sensor watches, over as many polls as it takes. What it must not do is
 * miss something, or report all of it again each time, with a state that stays small whatever there is. Hence:
 *
 * - What changed since shortly before the sweep before began is **fresh** and is reported.
 * - Of all that is older, only a digest is kept. A bin of it that differs from what the sweep before left had something
 *   arrive with an old time (an upload that took long, a directory moved here, a clock that is wrong) or removed; the next
 *   sweep reports this bin once more, and the store leaves out the keys it has acted on.
 * - What is too young is left out of both, so that it is fresh when it has settled.
 *
 * So a thing is found whatever its time says. Times only decide how soon, and how much is reported in vain.
 */

/** One thing that a sweep comes by. */
export interface Item {
  /** What makes it this thing, its version included where versions count. */
  readonly identity: string
  readonly changedAt: Instant
  /** Where a sweep goes on after it. */
  readonly position: string
}

/** What a sensor that sweeps remembers. */
export type SweepState = {
  /** Which settings it is about; with others everything begins anew. */
  readonly source: string
  /** How many sweeps are complete. */
  readonly sweeps: number
  /** What changed before is left out; null where nothing is. */
  readonly floorAt: Instant | null
  /** The marks of what changed at the floor or later and was there all the same. */
  readonly present: readonly string[]
  /** What changed at this instant or later is fresh; null where everything is. */
  readonly freshAt: Instant | null
  /** The position up to which nothing is looked at again. */
  readonly from: string
  /** The digest of all that will not be fresh, and how much that is. */
  readonly known: string
  readonly knownCount: number
  /** Bins of it to be reported once more. */
  readonly recheck: readonly number[]
  /** The marks of what could not be reported, to be tried again. */
  readonly failing: readonly string[]
  /** What the next poll has to say before anything else. */
  readonly complaint: string | null
  readonly open: OpenSweep | null
}

/** The sweep that is under way. */
type OpenSweep = {
  readonly startedAt: Instant
  readonly nextFreshAt: Instant
  readonly position: string
  readonly from: string
  /** Whether something was met that has to be looked at again, so that `from` stays before it. */
  readonly isHeld: boolean
  readonly looked: number
  readonly young: number
  readonly old: string
  readonly next: string
  readonly nextCount: number
  readonly rechecking: readonly number[]
  readonly failing: readonly string[]
  readonly complaint: string | null
}

/** How a sensor wants its sweeps. */
export interface SweepOptions {
  readonly settleMs: number
  /** With it positions sort by time, and what is longer ago is not looked at again. */
  readonly lookBackMs?: number | undefined
  readonly startFrom: 'beginning' | 'now'
}

/** What a sensor that sweeps begins with. */
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

/** The position after which the next look goes on. */
export function positionOf(state: SweepState): string {
  return state.open?.position ?? state.from
}

/** What a sweep makes of an item. */
export type Verdict =
  | { readonly kind: 'young' }
  | {
      readonly kind: 'known' | 'new'
      readonly mark: Mark
      /** Whether it was there before the sensor began. */
      readonly isPresent?: boolean
      /** Whether its time is still to come. It counts as old, or it would be fresh in every sweep until then. */
      readonly isAhead?: boolean
    }

/** Clocks of one system may differ by this much without anything being taken for late. */
const marginMs = 10_000
/** How much is reported once more in one sweep, unless a single bin is larger. */
const recheckBudget = 10_000
const maxFailing = 20
const maxPresent = 100

/** A sweep during one poll: opened or resumed from the state, and written back into it. */
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
    // Some stores cut the fraction of a second off the times they give.
    this.#state = isFirst ? { ...state, floorAt: at - (at % 1000) } : state
    this.#old = new BinDigest(this.#open.old)
    this.#next = new BinDigest(this.#open.next)
    this.#rechecking = new Set(this.#open.rechecking)
    this.#retried = new Set(state.failing)
    this.#present = new Set(state.present)
  }

  /** Whether something is to be reported. Changes nothing. */
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

  /** Goes past an item that was weighed, and reported where it was new. */
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

  /** Goes past something that cannot be reported and is tried again in each sweep; false where that are too many. */
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

  /** Goes on after a position at which there is nothing to weigh. */
  moveTo(position: string): void {
    this.#open.position = position
  }

  get position(): string {
    return this.#open.position
  }

  /** In how far nothing is new, for whoever asks. */
  get summary(): string {
    const { looked, young, failing } = this.#open
    const notes = [
      `${looked} looked at`,
      ...(young > 0 ? [`${young} not settled yet`] : []),
      ...(failing.length > 0 ? [`${failing.length} that cannot be reported`] : []),
    ]
    return notes.join(', ')
  }

  /** The state with the sweep still under way. */
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

/** As many bins as the budget allows, beginning elsewhere each time, so that none waits for ever. */
function binsToRecheck({ recheck, knownCount, sweeps }: SweepState): readonly number[] {
  const allowed = Math.max(1, Math.floor((binCount * recheckBudget) / Math.max(1, knownCount)))
  const first = sweeps % binCount
  const turned = [...recheck.filter((bin) => bin >= first), ...recheck.filter((bin) => bin < first)]
  return turned.slice(0, allowed)
}

/** A thing as it was when it was there already; changed, it is another. */
function presenceOf(item: Item): string {
  return markText(markOf(`${item.identity}@${item.changedAt}`))
}
