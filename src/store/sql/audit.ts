import type {
  AuditEntry,
  AuditFilter,
  AuditSubject,
  ChangeRecord,
  StoredAuditEntry,
  Via,
} from '../../kernel/audit/audit.js'
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
} from '../../kernel/audit/snapshot.js'
import { staleRevision, takenOver } from '../../kernel/audit/stale-revision.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StateChange } from '../../kernel/state/state-entry.js'
import type { Instant } from '../../time/instant.js'
import { holds } from './planning/holds.js'
import { jobs, triggers } from './planning/read-definitions.js'
import { orUndefined } from './rows/run-rows.js'
import { run } from './runs/read-runs.js'
import type { Session } from './session.js'
import { areCurrent, pruningLock, stateValue, writeStateEntry } from './state.js'
import type { SqlValue } from './statement.js'
import type { Driver } from './driver.js'
import type { Verb } from './verb.js'

// Relies on: the unique index of audit.id. The transaction is the only writer, so it can be read first.
const KNOWN = `select * from rota.audit where id = $1`

const INSERT = `insert into rota.audit (id, at, actor, via, action, target, reason, before, after)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

const UPDATE = `update rota.audit set before = $1, after = $2 where id = $3`

// Relies on: the unique index of workers.id.
const DRAINING = `select is_draining from rota.workers where id = $1 and phase = 0`

// Each relies on: primary key.
const AFTER = `select * from rota.audit where seq > $1 order by seq limit $2`
const COUNT = `select count(*) from rota.audit`
const OLDEST = `select seq, at from rota.audit order by seq limit $1`
const REMOVE = `delete from rota.audit where seq <= $1`

/** The same driver, with audit entries for its transactions. */
export function auditedDriver({ commit, read }: Driver, record: ChangeRecord): Driver {
  return {
    read,
    // A verb that reads the state before and after must be the only writer in between.
    commit: (verb, options) =>
      commit((session) => recorded(session, record, verb), { ...options, isExclusive: true }),
  }
}

function* recorded<T>(session: Session, record: ChangeRecord, verb: (session: Session) => Verb<T>): Verb<T> {
  session.beExclusive()
  yield* checkExpected(session, record)
  const before = yield* snapshots(session, record)
  const answer = yield* verb(session)
  const after = yield* snapshots(session, record)
  for (const [i, audit] of record.audits.entries()) {
    const entry = entryOf(audit, before[i] ?? [], after[i] ?? [])
    if (entry === undefined) continue
    const known = yield* session.sql.get<AuditRow>(KNOWN, entry.id)
    if (known === undefined) yield* putEntry(session, entry)
    else {
      const joined = joinEntries(entryOfRow(known), audit, entry)
      yield* session.sql.change(UPDATE, textOf(joined.before), textOf(joined.after), entry.id)
    }
    yield* writeAlongside(session, record.state ?? [], entry.at)
    // Watching processes show the change immediately, also if it made nothing due.
    session.tell('anything')
  }
  return answer
}

/** Writes the state of an entry, once; if another process has changed it, the whole change is refused. */
function* writeAlongside(session: Session, state: readonly StateChange[], at: Instant): Verb<void> {
  for (const one of state) {
    const current = yield* stateValue(session, one)
    if (JSON.stringify(current) === JSON.stringify(one.value)) continue
    if (!(yield* areCurrent(session, [one]))) throw takenOver()
    yield* writeStateEntry(session, one, at)
  }
}

function* checkExpected(session: Session, { expected, audits }: ChangeRecord): Verb<void> {
  if (expected === undefined) return
  const openAt = audits[0]?.entry.at ?? session.highestAt
  const [stored] = yield* triggers(session, { names: [expected.trigger] })
  const [pause] = yield* holds(session, { target: `trigger:${expected.trigger}`, openAt })
  const tag = stored === undefined ? undefined : triggerTag(stored, pause)
  if (tag !== expected.tag) throw staleRevision(expected, tag)
}

function* snapshots(session: Session, { audits }: ChangeRecord): Verb<Snapshot[][]> {
  const all: Snapshot[][] = []
  for (const { subjects, entry } of audits) {
    const own: Snapshot[] = []
    for (const subject of subjects) own.push(yield* snapshot(session, subject, entry.at))
    all.push(own)
  }
  return all
}

function* snapshot(session: Session, subject: AuditSubject, at: Instant): Verb<Snapshot> {
  switch (subject.kind) {
    case 'run':
      return runSnapshot(yield* run(session, subject.id))
    case 'trigger':
      return triggerSnapshot((yield* triggers(session, { names: [subject.name] }))[0])
    case 'job':
      return jobSnapshot((yield* jobs(session)).find(({ job }) => job.name === subject.name))
    case 'worker': {
      const isDraining = yield* session.sql.value<number>(DRAINING, subject.name)
      return workerSnapshot(isDraining === undefined ? undefined : { isDraining: isDraining === 1 })
    }
    case 'hold':
      return holdSnapshot((yield* holds(session, { target: subject.target, openAt: at }))[0])
    case 'state':
      return yield* stateValue(session, subject.key)
  }
}

/** Inserts a new entry. */
export function* putEntry(session: Session, entry: AuditEntry): Verb<void> {
  const { id, at, actor, via, action, target, reason = null, before, after } = entry
  const values = [id, at, actor, via, action, target, reason, textOf(before), textOf(after)]
  yield* session.sql.change(INSERT, ...values)
}

/** Entries from a number on, oldest first. */
export function* entriesAfter(session: Session, seq: number, limit: number): Verb<StoredAuditEntry[]> {
  return (yield* session.sql.all<AuditRow>(AFTER, seq, limit)).map(entryOfRow)
}

/** Entries, newest first. Relies on: primary key backwards, audit_target, audit_actor or audit_action. */
export function* auditPage(session: Session, filter: AuditFilter): Verb<StoredAuditEntry[]> {
  const { limit, before, targets, actor, action, sinceAt } = filter
  const values: SqlValue[] = []
  const conditions = ['true']
  const where = (condition: (place: string) => string, bound: SqlValue | undefined): void => {
    if (bound === undefined) return
    values.push(bound)
    conditions.push(condition(`$${values.length}`))
  }
  where((place) => `seq < ${place}`, before)
  where((place) => `target = any(${place}::text[])`, targets)
  where((place) => `actor = ${place}`, actor)
  where((place) => `action = ${place}`, action)
  where((place) => `at >= ${place}`, sinceAt)
  values.push(limit)
  const sql = `select * from rota.audit where ${conditions.join(' and ')} order by seq desc limit $${values.length}`
  return (yield* session.sql.all<AuditRow>(sql, ...values)).map(entryOfRow)
}

/** Removes the oldest entries. */
export function* pruneAudit(
  session: Session,
  { before, keep, limit }: { before: Instant; keep: number; limit: number },
): Verb<number> {
  // Another process that prunes meanwhile would remove the same surplus again.
  yield* session.native.lockEntries([pruningLock])
  const surplus = ((yield* session.sql.value<number>(COUNT)) ?? 0) - keep
  const oldest = yield* session.sql.all<{ seq: number; at: number }>(OLDEST, limit)
  const kept = oldest.findIndex(({ at }, i) => i >= surplus && at >= before)
  const removed = kept === -1 ? oldest.length : kept
  const last = oldest[removed - 1]
  if (last !== undefined) yield* session.sql.change(REMOVE, last.seq)
  return removed
}

interface AuditRow {
  readonly seq: number
  readonly id: string
  readonly at: number
  readonly actor: string
  readonly via: Via
  readonly action: string
  readonly target: string
  readonly reason: string | null
  readonly before: string | null
  readonly after: string | null
}

function entryOfRow(row: AuditRow): StoredAuditEntry {
  const { seq, id, at, actor, via, action, target } = row
  const states = { before: jsonOf(row.before), after: jsonOf(row.after) }
  return { seq, id, at, actor, via, action, target, reason: orUndefined(row.reason), ...states }
}

function textOf(value: Json | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

function jsonOf(text: string | null): Json | undefined {
  return text === null ? undefined : (JSON.parse(text) as Json)
}
