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

/** The most labels of a filter. */
export const mostLabels = 4
