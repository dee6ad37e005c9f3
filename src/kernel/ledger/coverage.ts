import type { Instant } from '../../time/instant.js'
import type { LedgerReason } from './ledger.js'

/** The due instants of one trigger, computed again from its stored versions and compared with the ledger. */
export interface Coverage {
  readonly trigger: string
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly due: number
  readonly run: number
  /** The number of due instants without a run, by reason. */
  readonly explained: Readonly<Partial<Record<LedgerReason, number>>>
  /** The first few due instants with neither a run nor a reason; normally none. */
  readonly unexplained: readonly Instant[]
  readonly unexplainedCount: number
  /** The first few instants with a run that no definition makes due; normally none. */
  readonly unexpected: readonly Instant[]
  readonly unexpectedCount: number
  /** Whether instants were computed with other time zone data than when they were planned. */
  readonly otherZoneRules: boolean
}

/** The coverage of a trigger, and how it kept its SLA. */
export interface CoverageReport extends Coverage {
  /** How many breaches of the trigger's SLA are recorded for that time. */
  readonly breaches: number
}

/** Whether the ledger accounts for everything, and only for what was due. */
export function isComplete(coverage: Pick<Coverage, 'unexplainedCount' | 'unexpectedCount'>): boolean {
  return coverage.unexplainedCount === 0 && coverage.unexpectedCount === 0
}
