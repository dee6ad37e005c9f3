import type { RunId } from '../kernel/identity/identity.js'
import type { RunState } from '../kernel/run/run.js'
import type { Instant } from '../time/instant.js'

/** Which runs are asked for, and how many at most. */
export interface RunFilter {
  readonly limit: number
  readonly before?: RunId | undefined
  readonly state?: RunState | undefined
  readonly job?: string | undefined
  readonly trigger?: string | undefined
  readonly sinceAt?: Instant | undefined
  readonly untilAt?: Instant | undefined
}
