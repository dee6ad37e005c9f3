import { idBounds, type RunId } from '../kernel/identity/identity.js'
import type { OneOrMore, RunConditions } from './run-conditions.js'

/** Which runs are asked for, and how many at most. */
export interface RunFilter extends RunConditions {
  readonly limit: number
  /** Only runs that are older: the last one of the page before. */
  readonly before?: RunId | undefined
  /** Only runs that are newer, and of these the ones next to it: the first one of the page after. */
  readonly newerThan?: RunId | undefined
  /** After how many runs a search without an index ends, at the earliest; default: never. */
  readonly look?: number | undefined
}

/** A page of runs. */
export interface RunsPage<Found> {
  /** The newest first. */
  readonly runs: readonly Found[]
  /** Where the search ended before it was through: the next page continues here. */
  readonly lookedTo: RunId | undefined
}

/** How many runs there are, as far as they were counted. */
export interface RunCount {
  readonly count: number
  /** Whether there may be more. */
  readonly isCapped: boolean
}

/** The values of a condition as a list; nothing where it was not given. */
export function listOf<T>(given: OneOrMore<T> | undefined): readonly T[] | undefined {
  if (given === undefined) return undefined
  return Array.isArray(given) ? (given as readonly T[]) : [given as T]
}

/** The ids that a filter allows: `from` and more, less than `until`. An id begins with its due instant. */
export function idRange(filter: Omit<RunFilter, 'limit'>): IdRange {
  const { from = '', until = afterAllIds } = idBounds(filter)
  const { newerThan, before = until } = filter
  const lowest = newerThan === undefined ? from : idAfter(newerThan)
  return { from: lowest > from ? lowest : from, until: before < until ? before : until }
}

/** The ids of runs, from one on and before another one. */
export interface IdRange {
  readonly from: string
  readonly until: string
}

/** The least text that is more than an id. */
export function idAfter(id: RunId): string {
  return `${id}0`
}

/** More than any id. */
export const afterAllIds = '~'

/** A text with a `*` at its end, read: the beginning, or the whole. */
export function readPattern(pattern: string): { readonly text: string; readonly isPrefix: boolean } {
  return pattern.endsWith('*')
    ? { text: pattern.slice(0, -1), isPrefix: true }
    : { text: pattern, isPrefix: false }
}

/**
 * A message as it is searched: as JSON text without its quotes, the letters A to Z in lower case. SQL finds the same in
 * the stored text without having to read it.
 */
export function searchedText(message: string): string {
  return JSON.stringify(message)
    .slice(1, -1)
    .replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
