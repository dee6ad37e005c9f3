/** The points of one lane: runs, what did not run and why, and future due times. */
import { marks, type Family, type Mark } from '../../../design/marks.js'

/** An instant of a lane, or several that the server counted together. */
export interface Point {
  readonly fromMs: number
  /** The last instant of several; the same as `fromMs` for one. */
  readonly untilMs: number
  /** How many instants of each state. */
  readonly tally: Tally
  /** The run of a single instant. */
  readonly run?: PointRun
  /** What a change of the clocks does to an instant to come. */
  readonly change?: string
  /** Why instants did not run. */
  readonly rule?: string
}

/** How many of each state. */
export type Tally = Readonly<Partial<Record<Mark, number>>>

/** When a run began and ended. */
export interface PointRun {
  readonly id: string
  readonly startedMs?: number | undefined
  readonly finishedMs?: number | undefined
}

/** A stretch of instants that is drawn as one bar: a range of the ledger, or more instants to come than are listed. */
export interface Bar {
  readonly fromMs: number
  readonly untilMs: number
  readonly mark: Mark
  /** The text in the bar or next to it. */
  readonly text: string
}

/** The order of families: the one that needs attention most represents several. */
export const severity: readonly Family[] = ['bad', 'warn', 'active', 'chosen', 'ok', 'quiet']

/** A tally that is being counted. */
export type Counting = Partial<Record<Mark, number>>

// Thousands of tallies are read in every frame of a zoom: these functions make no objects.

/** How many instants there are. */
export function countOf(tally: Tally): number {
  let sum = 0
  for (const mark in tally) sum += tally[mark as Mark] ?? 0
  return sum
}

/** Adds a tally to one that is being counted. */
export function addTally(sum: Counting, tally: Tally): void {
  for (const name in tally) {
    const mark = name as Mark
    sum[mark] = (sum[mark] ?? 0) + (tally[mark] ?? 0)
  }
}

const rankOf = Object.fromEntries(
  Object.entries(marks).map(([mark, { family }]) => [mark, severity.indexOf(family)]),
) as Readonly<Record<Mark, number>>

/** How much the state of several points needs attention; lower means more. */
export function rankOfTally(tally: Tally): number {
  let rank = severity.length
  for (const mark in tally) rank = Math.min(rank, rankOf[mark as Mark])
  return rank
}

/** The state that represents several points. */
export function worstOf(tally: Tally): Mark {
  const rank = rankOfTally(tally)
  for (const mark in tally) if (rankOf[mark as Mark] === rank) return mark as Mark
  return 'not-due'
}
