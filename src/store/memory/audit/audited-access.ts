import type { AuditSubject, ChangeRecord } from '../../../kernel/audit/audit.js'
import {
  entryOf,
  holdSnapshot,
  jobSnapshot,
  joinEntries,
  runSnapshot,
  triggerSnapshot,
  triggerTag,
  workerSnapshot,
  type Snapshot,
} from '../../../kernel/audit/snapshot.js'
import { staleRevision, takenOver } from '../../../kernel/audit/stale-revision.js'
import type { StateChange } from '../../../kernel/state/state-entry.js'
import type { Instant } from '../../../time/instant.js'
import { triggers } from '../definitions.js'
import { holds, toRun } from '../reading.js'
import { areCurrent, stateEntryAt, writeStateEntry } from '../state.js'
import type { TableAccess, Tables } from '../tables.js'
import { putEntry } from './entries.js'

/** The same access to the tables, with audit entries for its changes. */
export function auditedAccess({ read, change, write }: TableAccess, record: ChangeRecord): TableAccess {
  const recorded =
    <T>(apply: (tables: Tables) => T) =>
    (tables: Tables): T => {
      checkExpected(tables, record)
      checkAlongside(tables, record)
      const look = (): Snapshot[][] =>
        record.audits.map(({ subjects, entry }) => subjects.map((one) => snapshot(tables, one, entry.at)))
      const before = look()
      const answer = apply(tables)
      writeEntries(tables, { record, before, after: look() })
      return answer
    }
  return { read, change: (apply) => change(recorded(apply)), write: (apply) => write(recorded(apply)) }
}

function checkExpected(tables: Tables, { expected, audits }: ChangeRecord): void {
  if (expected === undefined) return
  const at = audits[0]?.entry.at ?? tables.highestAt
  const [stored] = triggers(tables, { names: [expected.trigger] })
  const [pause] = holds(tables, { target: `trigger:${expected.trigger}`, openAt: at })
  const tag = stored === undefined ? undefined : triggerTag(stored, pause)
  if (tag !== expected.tag) throw staleRevision(expected, tag)
}

/** Checks before anything is changed: these tables have no rollback. */
function checkAlongside(tables: Tables, { state = [] }: ChangeRecord): void {
  for (const change of state) {
    const isWritten = JSON.stringify(stateEntryAt(tables, change)?.value) === JSON.stringify(change.value)
    if (!isWritten && !areCurrent(tables, [change])) throw takenOver()
  }
}

function writeEntries(
  tables: Tables,
  given: { record: ChangeRecord; before: readonly Snapshot[][]; after: readonly Snapshot[][] },
): void {
  const { audits, state = [] } = given.record
  for (const [i, audit] of audits.entries()) {
    const entry = entryOf(audit, given.before[i] ?? [], given.after[i] ?? [])
    if (entry === undefined) continue
    const known = tables.audit.get(entry.id)
    const joined = known === undefined ? entry : joinEntries(known, audit, entry)
    putEntry(tables, { ...joined, seq: known?.seq ?? tables.lastAudit + 1 })
    for (const one of state) writeAlongside(tables, one, entry.at)
  }
}

/** Writes the state of an entry, once. */
function writeAlongside(tables: Tables, change: StateChange, at: Instant): void {
  const current = stateEntryAt(tables, change)?.value
  if (JSON.stringify(current) !== JSON.stringify(change.value)) writeStateEntry(tables, change, at)
}

function snapshot(tables: Tables, subject: AuditSubject, at: Instant): Snapshot {
  switch (subject.kind) {
    case 'run': {
      const row = tables.runs.get(subject.id)
      return runSnapshot(row === undefined ? undefined : toRun(row))
    }
    case 'trigger':
      return triggerSnapshot(triggers(tables, { names: [subject.name] })[0])
    case 'job':
      return jobSnapshot(tables.jobs.get(subject.name))
    case 'worker': {
      const worker = tables.workers.get(subject.name)
      return workerSnapshot(worker?.isGone === false ? worker : undefined)
    }
    case 'hold':
      return holdSnapshot(holds(tables, { target: subject.target, openAt: at })[0])
    case 'state':
      return stateEntryAt(tables, subject.key)?.value
  }
}
