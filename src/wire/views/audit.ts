/** Entries of the audit as `--json` and the API show them. */
import type { StoredAuditEntry } from '../../kernel/audit/audit.js'
import { pick } from '../to-json.js'

/** One change. */
export function auditView(entry: StoredAuditEntry) {
  const fields = ['seq', 'id', 'at', 'actor', 'via', 'action', 'target', 'reason', 'before', 'after'] as const
  return pick(entry, fields)
}
