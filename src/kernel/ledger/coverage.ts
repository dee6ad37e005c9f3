import type { Instant } from '../../time/instant.js'
import type { LedgerReason } from './ledger.js'

/** What became of the due instants of one trigger, computed again from the definitions that were kept. */
export interface Coverage {
  readonly trigger: string
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly due: number
  readonly run: number
  /** By reason, those without a run. */
  readonly explained: Readonly<Partial<Record<LedgerReason, number>>>
  /** Due instants with neither a run nor a reason: there should be none. The first few. */
  readonly unexplained: readonly Instant[]
  readonly unexplainedCount: number
  /** Runs at instants that no definition makes due: there should be none. The first few. */
  readonly unexpected: readonly Instant[]
  readonly unexpectedCount: number
  /** Instants computed with other zone rules than those in force when they were planned. */
  readonly otherZoneRules: boolean
}

/** The coverage of a trigger, and beside it how it kept its promises. */
export interface CoverageReport extends Coverage {
  /** How many promises of the trigger were broken in that time, as far as breaches are kept. */
  readonly breaches: number
}

/** Whether the ledger accounts for everything, and only for what was due. */
export function isComplete(coverage: Pick<Coverage, 'unexplainedCount' | 'unexpectedCount'>): boolean {
  return coverage.unexplainedCount === 0 && coverage.unexpectedCount === 0
}
