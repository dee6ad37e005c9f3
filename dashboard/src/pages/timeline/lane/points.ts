/** What stands on one lane, from one source: runs, what did not run and why, and what is to come. */
import { marks, type Family, type Mark } from '../../../design/families.js'

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
  /** What stands in the bar or beside it. */
  readonly text: string
}

/** Which family stands for several: the one that needs somebody most. */
export const severity: readonly Family[] = ['bad', 'warn', 'active', 'chosen', 'ok', 'quiet']

/** How many instants there are. */
export function countOf(tally: Tally): number {
  return Object.values(tally).reduce((sum, count) => sum + count, 0)
}

/** Two tallies as one. */
export function addTally(one: Tally, other: Tally): Tally {
  const sum: Partial<Record<Mark, number>> = { ...one }
  for (const [mark, count] of Object.entries(other) as [Mark, number][]) sum[mark] = (sum[mark] ?? 0) + count
  return sum
}

/** The state that stands for several. */
export function worstOf(tally: Tally): Mark {
  let worst: Mark = 'not-due'
  let rank = severity.length
  for (const mark of Object.keys(tally) as Mark[]) {
    const of = severity.indexOf(marks[mark].family)
    if (of < rank) [worst, rank] = [mark, of]
  }
  return worst
}
