import type { RunOrigin, RunState } from '../kernel/run/run.js'
import type { Instant } from '../time/instant.js'

/** One value, or several of which one must match. */
export type OneOrMore<T> = T | readonly T[]

/** The conditions of a filter: all given ones must match. */
export interface RunConditions {
  readonly state?: OneOrMore<RunState> | undefined
  readonly job?: OneOrMore<string> | undefined
  readonly trigger?: OneOrMore<string> | undefined
  /** The current queue of its job. */
  readonly queue?: string | undefined
  readonly origin?: OneOrMore<RunOrigin> | undefined
  readonly partition?: string | undefined
  /** Labels with their values; at most `mostLabels`. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** The code of its error, or a prefix with `*`. */
  readonly errorCode?: string | undefined
  /** A part of the message of its error, ignoring the case of A to Z. */
  readonly errorText?: string | undefined
  /** The worker that holds it, or a prefix of its id with `*`. */
  readonly worker?: string | undefined
  /** Due at this instant or later. */
  readonly sinceAt?: Instant | undefined
  /** Due at this instant or earlier. */
  readonly untilAt?: Instant | undefined
  /** Started more than `byMs` after its due instant, or still not started by then, as seen at `at`. */
  readonly late?: { readonly byMs: number; readonly at: Instant } | undefined
}

/** The most labels of a filter. */
export const mostLabels = 4
