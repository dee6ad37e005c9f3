import type { Job } from '../../kernel/job/job.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { changeRecord, manyDefined, mostAudits, type AskedAudit } from '../audit-change.js'

/** The changes of a sync, by name. */
export interface SyncChanges {
  readonly source: string
  readonly jobs: readonly string[]
  readonly triggers: readonly string[]
  readonly vanished: readonly string[]
  readonly now: Instant
}

/** The same store, with audit entries for the changes of a source: one for each definition, or one for many. */
export function auditedSync(store: Store, changes: SyncChanges): Store {
  const { source, jobs, triggers, vanished, now } = changes
  const audits: AskedAudit[] = [
    ...jobs.map((name) => auditOf('job.define', 'job', name)),
    ...triggers.map((name) => auditOf('trigger.define', 'trigger', name)),
    ...vanished.map((name) => auditOf('trigger.end', 'trigger', name)),
  ]
  if (audits.length === 0) return store
  const many = {
    ...manyDefined([...triggers, ...vanished, ...jobs]),
    action: 'sync',
    target: `source:${source}`,
  }
  const counts = { jobs: jobs.length, triggers: triggers.length, ended: vanished.length }
  const all = { ...many, after: { ...(many.after as object), ...counts } }
  const author = { by: source, via: 'sync' } as const
  return store.audited(
    changeRecord(audits.length > mostAudits ? [all] : audits, { options: {}, author, now }),
  )
}

/** The jobs that the store does not have, or has with another definition. */
export async function changedJobs(store: Store, jobs: readonly Job[]): Promise<readonly string[]> {
  const known = new Map((await store.jobs()).map(({ job }) => [job.name, JSON.stringify(job)]))
  return jobs.filter((job) => known.get(job.name) !== JSON.stringify(job)).map(({ name }) => name)
}

function auditOf(action: string, kind: 'job' | 'trigger', name: string): AskedAudit {
  return { action, subjects: [{ kind, name }] }
}
