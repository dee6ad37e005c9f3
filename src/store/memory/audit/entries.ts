import type { AuditFilter, StoredAuditEntry } from '../../../kernel/audit/audit.js'
import type { Instant } from '../../../time/instant.js'
import type { Tables } from '../tables.js'

/** Inserts an entry with its number, or replaces the one with its id. */
export function putEntry(tables: Tables, entry: StoredAuditEntry): void {
  tables.audit.set(entry.id, entry)
  tables.lastAudit = Math.max(tables.lastAudit, entry.seq)
  tables.touched?.audit.set(entry.id, entry)
}

/** Entries, newest first. */
export function auditPage(tables: Tables, filter: AuditFilter): StoredAuditEntry[] {
  const { limit, before = Infinity, targets, actor, action, sinceAt = -Infinity } = filter
  return [...tables.audit.values()]
    .toReversed()
    .filter(
      (entry) =>
        entry.seq < before &&
        entry.at >= sinceAt &&
        (targets === undefined || targets.includes(entry.target)) &&
        (actor === undefined || entry.actor === actor) &&
        (action === undefined || entry.action === action),
    )
    .slice(0, limit)
}

/** Removes the oldest entries. */
export function pruneAudit(
  tables: Tables,
  { before, keep, limit }: { before: Instant; keep: number; limit: number },
): number {
  const surplus = tables.audit.size - keep
  let removed = 0
  for (const { id, at } of tables.audit.values()) {
    if (removed >= limit || (removed >= surplus && at >= before)) break
    tables.audit.delete(id)
    tables.touched?.audit.set(id, undefined)
    removed++
  }
  return removed
}
