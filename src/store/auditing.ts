/** The part of the store port that records who changed what. */
import type { AuditFilter, StoredAuditEntry } from '../kernel/audit/audit.js'
import type { Instant } from '../time/instant.js'

/** Audit entries; `audited` of the store writes them. */
export interface Auditing {
  /** Entries, newest first, in pages. */
  auditPage(filter: AuditFilter): Promise<readonly StoredAuditEntry[]>

  /** Removes and counts the oldest entries, at most `limit`: those before an instant, or beyond the newest `keep`. */
  pruneAudit(request: { before: Instant; keep: number; limit: number }): Promise<number>
}
