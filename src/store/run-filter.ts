import { idBounds, type RunId } from '../kernel/identity/identity.js'
import type { OneOrMore, RunConditions } from './run-conditions.js'

/** Which runs to return, and how many at most. */
export interface RunFilter extends RunConditions {
  readonly limit: number
  /** Only older runs: the last one of the previous page. */
  readonly before?: RunId | undefined
  /** Only the newer runs next to this one: the first one of the next page. */
  readonly newerThan?: RunId | undefined
  /** After how many runs a search without an index ends, at the earliest; default: never. */
  readonly look?: number | undefined
}

/** A page of runs. */
export interface RunsPage<Found> {
  /** The newest first. */
  readonly runs: readonly Found[]
  /** Where the search stopped early: the next page continues here. */
  readonly lookedTo: RunId | undefined
}

/** The number of runs, counted up to a limit. */
export interface RunCount {
  readonly count: number
  /** Whether there may be more. */
  readonly isCapped: boolean
}

/** The values of a condition as a list; undefined if it is absent. */
export function listOf<T>(given: OneOrMore<T> | undefined): readonly T[] | undefined {
  if (given === undefined) return undefined
  return Array.isArray(given) ? (given as readonly T[]) : [given as T]
}

/** The ids that a filter allows: at least `from`, and less than `until`. An id begins with its due instant. */
export function idRange(filter: Omit<RunFilter, 'limit'>): IdRange {
  const { from = '', until = afterAllIds } = idBounds(filter)
  const { newerThan, before = until } = filter
  const lowest = newerThan === undefined ? from : idAfter(newerThan)
  return { from: lowest > from ? lowest : from, until: before < until ? before : until }
}

/** A range of run ids; `until` is excluded. */
export interface IdRange {
  readonly from: string
  readonly until: string
}

/** The smallest text that is greater than an id. */
export function idAfter(id: RunId): string {
  return `${id}0`
}

/** Greater than any id. */
export const afterAllIds = '~'

/** Reads a text with an optional `*` at its end. */
export function readPattern(pattern: string): { readonly text: string; readonly isPrefix: boolean } {
  return pattern.endsWith('*')
    ? { text: pattern.slice(0, -1), isPrefix: true }
    : { text: pattern, isPrefix: false }
}

/**
 * The form of a message for searching: JSON text without its quotes, A to Z in lower case. SQL can search the stored
 * text for it without parsing JSON.
 */
export function searchedText(message: string): string {
  return JSON.stringify(message)
    .slice(1, -1)
    .replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
