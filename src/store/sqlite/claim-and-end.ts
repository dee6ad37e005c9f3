/*
 * Statements that only SQLite has. Rows of runs are read and written as JSON texts: an object for each row takes several
 * times as long. The ends of runs that this process claimed are found by the key of their claim, and written in groups.
 */
import type { HolderNotice } from '../../kernel/run/fact.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Instant } from '../../time/instant.js'
import type { Finished } from '../port.js'
import { toJson } from '../sql/rows/run-rows.js'
import { blocked, done, ready, running } from '../sql/rows/states.js'
import { leaveQueue } from '../sql/runs/end-run.js'
import { isPlainEnd } from '../sql/runs/finish.js'
import type { Candidate, NativeVerbs, PlainEnd, StoredLogUse, WaitingRun } from '../sql/runs/native-verbs.js'
import type { Session } from '../sql/session.js'
import type { Verb } from '../sql/verb.js'
import type { KnownClaim, KnownClaims } from './known-claims.js'

/** Longer payloads are read only for the runs that are claimed. */
const maxInlinePayload = 4096

const COLUMNS = `seq, id, job, priority, run_at, attempt, failures, crashes, due_at, trigger, partition, gates, follow,
  case when octet_length(payload) > ${maxInlinePayload} then '' else payload end as payload`

// Relies on: runs_ready, in its own order. The write lock keeps two workers from claiming one run.
const CANDIDATES = `select ${COLUMNS}
  from runs where state = ${ready} and job = $1 order by priority desc, run_at, seq limit $2 offset $3 + 0`

// Relies on: runs_blocked, in its own order.
const WAITING_AT_ONE = `select ${COLUMNS}, waits_for from runs where state = ${blocked} and waits_for = $1
  order by priority desc, run_at, seq limit $2`

// Relies on: runs_blocked, once for each slot.
const WAITING = `select ${COLUMNS}, waits_for from (select value as slot from json_each($1)) wanted join runs on seq in (
    select seq from runs where state = ${blocked} and waits_for = slot order by priority desc, run_at, seq limit $2
  ) order by priority desc, run_at, seq`

// Relies on: primary key. A list of one would take 3 µs more, which is half of the statement.
const TAKE_ONE = `update runs set state = ${running}, attempt = attempt + 1, worker = $1, claimed_at = $2,
  started_at = null, waits_for = null where seq = $3`

const TAKE = TAKE_ONE.replace('= $3', '= any($3::int8[])')

// Relies on: primary key.
const PAYLOAD = `select payload from runs where seq = $1`

// Relies on: primary key. The fence is run, attempt and state: the report of an older claim finds no row. A key is
// never reused, so the key of a claim identifies its run. A statement for one, for the same reason as above.
const END_ONE_PLAIN = `update runs set state = ${done}, started_at = $1, finished_at = $2, result = $3, reason = null
  where state = ${running} and attempt = 1 and seq = $4`

const END_PLAIN = END_ONE_PLAIN.replace('= $4', '= any($4::int8[])')

// Relies on: primary key. Used only if some were stale; no other process can have ended a first attempt as done.
const ENDED = `select seq from runs
  where state = ${done} and attempt = 1 and finished_at = $1 and seq = any($2::int8[])`

// Relies on: the unique index of runs.id, primary key. The write lock excludes every other writer.
const LOG_USES = `select seq as run, id, coalesce(lines, 0) as lines, coalesce(bytes, 0) as bytes,
    coalesce(is_cut, 0) as is_cut
  from runs left join log_use on log_use.run = runs.seq where id = any($1::text[])`

// Relies on: the unique index of workers.id, then notices_worker.
const NOTICES = `select run, attempt, kind from notices
  where worker = (select key from workers where id = $1) order by id`

const FORGET_NOTICES = `delete from notices where worker = (select key from workers where id = $1)`

/** The verbs of SQLite for one connection. */
export function nativeVerbs(session: Session, claims: KnownClaims): NativeVerbs {
  return {
    // Each job is a statement of its own.
    manyJobs: 8,
    endPlain: (items) => endPlain(session, claims, items),
    candidates: (jobs, range) => candidates(session, jobs, range),
    waiting: (slots, limit) => waiting(session, slots, limit),
    take: (runs, by) => take(session, { claims, runs: runs as readonly ReadCandidate[] }, by),
    logUses: (runs) => session.sql.all<StoredLogUse>(LOG_USES, runs),
    takeNotices: (worker) => takeNotices(session, worker),
    lastNoticeOf: () => 0,
    // The write lock excludes every other transaction.
    *lockSlots() {},
    *lockQueue() {},
    *lockEntries() {},
    *lockUniqueKey() {},
    // Only the one-call function of Postgres needs this.
    noteRates() {},
  }
}

/** Plain ends with the same values: one statement for all of them. */
interface PlainGroup {
  readonly startedAt: Instant | undefined
  readonly endedAt: Instant
  readonly result: string | null
  readonly members: { readonly run: RunId; readonly claim: KnownClaim }[]
}

function* endPlain(
  session: Session,
  claims: KnownClaims,
  items: readonly Finished[],
): Verb<Map<RunId, PlainEnd>> {
  const groups = new Map<string, PlainGroup>()
  for (const item of items) {
    const claim = claims.take(item.run)
    if (claim !== undefined && isPlainEnd(item)) addToGroup(groups, item, claim)
  }
  const ended = new Map<RunId, PlainEnd>()
  for (const group of groups.values()) yield* endGroup(session, group, ended)
  return ended
}

function addToGroup(groups: Map<string, PlainGroup>, item: Finished, claim: KnownClaim): void {
  const { run, startedAt, endedAt } = item
  const result = toJson(item.outcome.result)
  const key = `${startedAt} ${endedAt} ${result}`
  const known = groups.get(key)
  if (known === undefined) groups.set(key, { startedAt, endedAt, result, members: [{ run, claim }] })
  else known.members.push({ run, claim })
}

function* endGroup(session: Session, group: PlainGroup, ended: Map<RunId, PlainEnd>): Verb<void> {
  const { startedAt = null, endedAt, result, members } = group
  const [first] = members
  const keys = keysOf(members.map(({ claim }) => claim))
  const changes =
    members.length === 1 && first !== undefined
      ? yield* session.sql.change(END_ONE_PLAIN, startedAt, endedAt, result, first.claim.seq)
      : yield* session.sql.change(END_PLAIN, startedAt, endedAt, result, keys)
  const rows =
    changes === members.length ? undefined : yield* session.sql.all<{ seq: number }>(ENDED, endedAt, keys)
  const current = rows === undefined ? undefined : new Set(rows.map(({ seq }) => seq))
  const byJob = new Map<string, number>()
  for (const { run, claim } of members) {
    if (current?.has(claim.seq) === false) continue
    ended.set(run, claim)
    byJob.set(claim.job, (byJob.get(claim.job) ?? 0) + 1)
  }
  for (const [job, count] of byJob) yield* leaveQueue(session, job, count)
}

interface ReadCandidate extends Candidate {
  /** Null if it is too long to be read before the run is claimed. */
  readonly payload: string | null
}

/** Reads one job after the other, each in the order of its index. */
function* candidates(
  session: Session,
  jobs: readonly string[],
  { limit, offset }: { limit: number; offset: number },
): Verb<ReadCandidate[]> {
  const found: ReadCandidate[][] = []
  for (const job of jobs) found.push(yield* session.sql.all<ReadCandidate>(CANDIDATES, job, limit, offset))
  return found.length === 1 ? (found[0] as ReadCandidate[]) : found.flat()
}

function waiting(session: Session, slots: readonly string[], limit: number): Verb<WaitingRun[]> {
  const [only] = slots
  return slots.length === 1 && only !== undefined
    ? session.sql.all<WaitingRun>(WAITING_AT_ONE, only, limit)
    : session.sql.all<WaitingRun>(WAITING, slots, limit)
}

function* take(
  session: Session,
  { claims, runs }: { claims: KnownClaims; runs: readonly ReadCandidate[] },
  { worker, now }: { worker: number; now: Instant },
): Verb<(string | null)[]> {
  const [first] = runs
  if (runs.length === 1 && first !== undefined) yield* session.sql.change(TAKE_ONE, worker, now, first.seq)
  else yield* session.sql.change(TAKE, worker, now, keysOf(runs))
  const payloads: (string | null)[] = []
  for (const { id, seq, job, gates, follow, payload } of runs) {
    if (follow === null) claims.remember(id, { seq, job, gates })
    payloads.push(payload === '' ? ((yield* session.sql.value<string>(PAYLOAD, seq)) ?? null) : payload)
  }
  return payloads
}

/** The keys of rows as JSON text, which is a list in SQLite. */
function keysOf(rows: readonly { readonly seq: number }[]): string {
  return JSON.stringify(rows.map(({ seq }) => seq))
}

function* takeNotices(session: Session, worker: string): Verb<HolderNotice[]> {
  const notices = yield* session.sql.all<HolderNotice>(NOTICES, worker)
  if (notices.length > 0) yield* session.sql.change(FORGET_NOTICES, worker)
  return notices
}
