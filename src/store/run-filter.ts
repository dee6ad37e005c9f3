import { idBounds, type RunId } from '../kernel/identity/identity.js'
import type { RunOrigin, RunState } from '../kernel/run/run.js'
import type { Instant } from '../time/instant.js'

/** One value, or several of which one has to fit. */
export type OneOrMore<T> = T | readonly T[]

/** What runs have to be: everything that is given has to fit. */
export interface RunConditions {
  readonly state?: OneOrMore<RunState> | undefined
  readonly job?: OneOrMore<string> | undefined
  readonly trigger?: OneOrMore<string> | undefined
  /** The queue that the job of the run is in now. */
  readonly queue?: string | undefined
  readonly origin?: OneOrMore<RunOrigin> | undefined
  readonly partition?: string | undefined
  /** Labels that the run has, each with this value; at most `mostLabels`. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** The code of its error, or the beginning of one and a `*`. */
  readonly errorCode?: string | undefined
  /** A part of the message of its error; `A` to `Z` are the same in both cases. */
  readonly errorText?: string | undefined
  /** The worker that holds it, or the beginning of its id and a `*`. */
  readonly worker?: string | undefined
  /** Due then or later. */
  readonly sinceAt?: Instant | undefined
  /** Due then or earlier. */
  readonly untilAt?: Instant | undefined
  /** Started later after its due instant than this, or not started `at` this instant although due that long ago. */
  readonly late?: { readonly byMs: number; readonly at: Instant } | undefined
}

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
  /** Where the search ended before it was through: the next page goes on here. */
  readonly lookedTo: RunId | undefined
}

/** How many runs there are, as far as they were counted. */
export interface RunCount {
  readonly count: number
  /** Whether there may be more. */
  readonly isCapped: boolean
}

/** The most labels of a filter. */
export const mostLabels = 4

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
