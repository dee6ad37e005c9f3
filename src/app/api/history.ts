import type { AuditFilter, StoredAuditEntry } from '../../kernel/audit/audit.js'
import { readInstants, type InstantInput } from '../../kernel/definition/read-instant.js'
import type { Store } from '../../store/port.js'

/** Which changes are listed. */
export interface HistoryFilter extends Partial<Omit<AuditFilter, 'targets' | 'sinceAt'>> {
  /** What was changed: a trigger, job, queue, switch, worker, token or run by its name or id. */
  readonly name?: string | undefined
  /** Changes at this time or later. */
  readonly since?: InstantInput | undefined
}

/** Changes, newest first; at most 50 by default. */
export async function history(store: Store, filter: HistoryFilter): Promise<readonly StoredAuditEntry[]> {
  const { name, since, ...rest } = filter
  const { since: sinceAt } = readInstants('the filter', { since })
  const targets = name === undefined ? undefined : await targetsOf(store, name)
  return await store.auditPage({ limit: 50, ...rest, sinceAt, targets })
}

/** The kinds of targets that have a name. */
const kinds = ['trigger', 'job', 'queue', 'switch', 'worker', 'token', 'service', 'backfill', 'source']

/** A run may be named by the beginning of its id. */
const shortestPrefix = 4

/** All targets that a name can mean. */
async function targetsOf(store: Store, name: string): Promise<readonly string[]> {
  const prefix = name.toLowerCase()
  const runs = prefix.length < shortestPrefix ? [] : await store.runsByPrefix(prefix, 2)
  const [run] = runs.length === 1 ? runs : []
  return [name, ...kinds.map((kind) => `${kind}:${name}`), ...(run === undefined ? [] : [`run:${run.id}`])]
}
