import type { Instant } from '../../time/instant.js'

/** The services of a round, in the order in which they are performed. */
export interface RoundSpec {
  readonly services: readonly RoundService[]
}

/** A job as a service: performed when a check finds that its own interval has passed. */
export interface RoundService {
  readonly job: string
  readonly everyMs: number
}

/** A service that a check skipped, and why. */
export interface SkippedService {
  readonly service: string
  /** `tried`: another round already tried it for this instant, and it failed. `replaced`: the list was replaced. */
  readonly reason: 'not_due' | 'in_flight' | 'tried' | 'replaced'
  /** When it is due next. */
  readonly dueAt?: Instant | undefined
  /** The round in which it is in flight. */
  readonly round?: string | undefined
}

/** The due and the skipped services of a check. */
export interface CheckNotice {
  /** Its due instant, the same as in the ledger range. */
  readonly dueAt: Instant
  readonly rule: 'round:check' | 'round:later'
  readonly due: readonly string[]
  readonly skipped: readonly SkippedService[]
}
