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

/** A service that a check left out, and why. */
export interface SkippedService {
  readonly service: string
  /** `tried`: it was begun for this instant before, by another round, and failed. `replaced`: the list was replaced. */
  readonly reason: 'not_due' | 'in_flight' | 'tried' | 'replaced'
  /** When it is due next. */
  readonly dueAt?: Instant | undefined
  /** The round in which it is in flight. */
  readonly round?: string | undefined
}

/** What a check of a round found, or left out after it. */
export interface CheckNotice {
  /** Its due instant, as that of the range in the ledger. */
  readonly dueAt: Instant
  readonly rule: 'round:check' | 'round:later'
  readonly due: readonly string[]
  readonly skipped: readonly SkippedService[]
}
