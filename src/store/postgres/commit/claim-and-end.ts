/*
 * The statements that only Postgres has: they skip rows that other transactions have locked, and send many rows in one
 * statement.
 */
import type { HolderNotice } from '../../../kernel/run/fact.js'
import type { RunId } from '../../../kernel/identity/identity.js'
import type { StateKey } from '../../../kernel/state/state-entry.js'
import type { Instant } from '../../../time/instant.js'
import type { Finished } from '../../port.js'
import { toJson } from '../../sql/rows/run-rows.js'
import { blocked, done, ready, running } from '../../sql/rows/states.js'
import { endedRunOf, type EndedRow } from '../../sql/rows/unfinished.js'
import { changesOnlyState } from '../../sql/runs/end-effect.js'
import { leaveQueue } from '../../sql/runs/end-run.js'
import { isPlainEnd } from '../../sql/runs/finish.js'
import type { Candidate, NativeVerbs, PlainEnd, WaitingRun } from '../../sql/runs/native-verbs.js'
import type { Session as VerbSession } from '../../sql/session.js'
import type { Verb } from '../../sql/verb.js'
import { lockLogUses } from './log-uses.js'
import type { ProcessCache } from './process-cache.js'

const COLUMNS =
  'seq, id, job, priority, run_at, attempt, failures, crashes, due_at, trigger, partition, gates, follow'

// Relies on: runs_ready, in its own order. Rows that another worker has locked are skipped, so no two workers wait for each
// other and no run is claimed twice.
const CANDIDATES = `select found.* from unnest($1::text[]) wanted (name) cross join lateral (
    select ${COLUMNS} from rota.runs where state = ${ready} and job = wanted.name
    order by priority desc, run_at, seq limit $2 offset $3 for update skip locked
  ) found`

// Relies on: runs_blocked, once for each slot. The rows stay locked until the end of the transaction.
const WAITING = `select found.* from unnest($1::text[]) wanted (key) cross join lateral (
    select ${COLUMNS}, waits_for from rota.runs where state = ${blocked} and waits_for = wanted.key
    order by priority desc, run_at, seq limit $2 for update
  ) found order by priority desc, run_at, seq`

// Relies on: primary key.
const TAKE = `update rota.runs set state = ${running}, attempt = attempt + 1, worker = $1, claimed_at = $2,
    started_at = null, waits_for = null
  where seq = any($3::int8[]) returning ctid as place, seq, payload`

// Relies on: the unique index of runs.id; "state + 0" keeps the server from scanning all running runs instead. The fencing
// token is run, attempt and state: a report of an older claim finds no row.
const END_PLAIN = `update rota.runs set state = ${done}, started_at = ended.started_at, finished_at = ended.finished_at,
    result = ended.result, reason = null
  from unnest($1::text[], $2::int8[], $3::int8[], $4::text[]) ended (id, started_at, finished_at, result)
  where runs.id = ended.id and state + 0 = ${running} and attempt = 1 and (follow is null or follow = any($5::int8[]))
  returning runs.id, runs.job, runs.gates, runs.follow, runs.trigger, runs.partition, runs.due_at, runs.started_at,
    runs.error`

// Relies on: the unique index of workers.id, then notices_worker.
const TAKE_NOTICES = `delete from rota.notices where worker = (select key from rota.workers where id = $1)
  returning id, run, attempt, kind`

/** Sets the locks of unique keys apart from the lock of the schema: the letters after "Rota". */
const keyLockClass = 0x52_6f_74_62

// Whoever records a run with a unique key holds this lock until the end of its transaction, also in a transaction of
// the user. Never waits: the one who has it may take an hour to commit.
const TRY_LOCK = `select pg_try_advisory_xact_lock(
    ${keyLockClass}, hashtext('rota'::name || ':' || $1::text || '=' || $2::text)
  )::int as is_free`

/** From this number of slots on, one transaction becomes the only writer: the server has room for a limited number of locks. */
const maxSlotLocks = 256

// Whoever reads or changes the count of a slot, or who waits there, holds its lock until the transaction ends.
const TRY_SLOTS = `select rota.try_slots($1::text[])::int as is_free`

// Relies on: primary key. A claim from a limited queue, and the end of a run of it, hold the row of the queue.
const TRY_QUEUE = `select 1 from rota.queues where name = $1 for update skip locked`

/** From this number of state entries on, one transaction becomes the only writer, for the same reason. */
const maxEntryLocks = 256

/** Sets the locks of state entries apart from the other locks. */
const entryLockClass = 0x52_6f_74_65

const ENTRY_LOCKS = `select distinct hashtext('rota'::name || ':' || given.key) as id from unnest($1::text[]) given (key)`

// In the order of their numbers: two transactions that lock the same entries must not wait for each other.
const LOCK_ENTRIES = `with ids as materialized (${ENTRY_LOCKS} order by 1)
  select count(pg_advisory_xact_lock(${entryLockClass}, id)) from ids`

// Never waits, so it may be called while other locks are held.
const TRY_ENTRIES = `with ids as materialized (${ENTRY_LOCKS})
  select coalesce(bool_and(pg_try_advisory_xact_lock(${entryLockClass}, id)), true)::int from ids`

/** Thrown if an open transaction records a run with the same unique key: the operation is retried later. */
export class KeyTaken extends Error {}

interface Session extends VerbSession {
  readonly remembered: ProcessCache
  afterCommit(act: () => void): void
}

/** The verbs of Postgres for one transaction. */
export function nativeVerbs(session: Session): NativeVerbs {
  const locked = new Set<string>()
  const lockedEntries = new Set<string>()
  return {
    manyJobs: 32,
    endPlain: (items) => endPlain(session, items),
    candidates: (jobs, { limit, offset }) => session.sql.all<Candidate>(CANDIDATES, jobs, limit, offset),
    waiting: (slots, limit) => session.sql.all<WaitingRun>(WAITING, slots, limit),
    take: (runs, by) => take(session, runs, by),
    logUses: (runs) => lockLogUses(session, runs),
    takeNotices: (worker) => takeNotices(session, worker),
    lastNoticeOf: (worker) => session.remembered.heardOf(worker),
    lockSlots: (keys) => lockSlots(session, locked, keys),
    lockQueue: (queue) => lockQueue(session, queue),
    lockEntries: (keys) => lockEntries(session, lockedEntries, keys),
    noteRates: (left) =>
      session.afterCommit(() => session.remembered.rates.note(session.remembered.catalog, left)),
    lockUniqueKey: (job, key) => lockUniqueKey(session, job, key),
  }
}

function* endPlain(session: Session, items: readonly Finished[]): Verb<Map<RunId, PlainEnd>> {
  session.afterCommit(() => {
    for (const { run } of items) session.remembered.forgetClaim(run)
  })
  // Only the first report of a run counts.
  const first = [...new Map(items.toReversed().map((item) => [item.run, item])).values()]
  const plain = first.filter(isPlainEnd)
  if (plain.length === 0) return new Map()
  const rows = yield* session.sql.all<PlainRow>(
    END_PLAIN,
    plain.map(({ run }) => run),
    plain.map(({ startedAt = null }) => startedAt),
    plain.map(({ endedAt }) => endedAt),
    plain.map(({ outcome }) => toJson(outcome.result)),
    lightEffects(session),
  )
  const byJob = new Map<string, number>()
  for (const { job } of rows) byJob.set(job, (byJob.get(job) ?? 0) + 1)
  for (const [job, count] of byJob) yield* leaveQueue(session, job, count)
  const endedAt = new Map(plain.map((item) => [item.run, item.endedAt]))
  return new Map(rows.map((row) => [row.id, plainEndOf(row, endedAt.get(row.id) as Instant)]))
}

function plainEndOf(row: PlainRow, at: Instant): PlainEnd {
  const { gates, follow } = row
  if (follow === null) return { gates }
  return { gates, effect: { follow, run: endedRunOf(row, row, { state: 'done', at, reason: undefined }) } }
}

interface PlainRow extends EndedRow {
  readonly id: RunId
  readonly job: string
  readonly trigger: string | null
  readonly gates: string | null
  readonly follow: number | null
}

/** The codes of the effects that can be applied together. */
function lightEffects({ endEffects }: Session): number[] {
  return [...endEffects.values()].filter(changesOnlyState).map(({ code }) => code)
}

function* take(
  session: Session,
  runs: readonly Candidate[],
  { worker, now }: { worker: number; now: Instant },
): Verb<(string | null)[]> {
  type Taken = { place: string; seq: number; payload: string | null }
  const seqs = runs.map(({ seq }) => seq)
  const rows = yield* session.sql.all<Taken>(TAKE, worker, now, seqs)
  const taken = new Map(rows.map((row) => [row.seq, row]))
  session.afterCommit(() => {
    for (const { seq, id, job, gates, follow } of runs) {
      const place = taken.get(seq)?.place
      session.remembered.rememberClaim(id, { job, gates, hasEndEffect: follow !== null, place })
    }
  })
  return seqs.map((seq) => taken.get(seq)?.payload ?? null)
}

/** Notices that the worker received in an earlier turn are still stored, and are not returned again. */
function* takeNotices(session: Session, worker: string): Verb<HolderNotice[]> {
  const heard = session.remembered.heardOf(worker)
  const told = yield* session.sql.all<HolderNotice & { id: number }>(TAKE_NOTICES, worker)
  const fresh = told.filter(({ id }) => id > heard).toSorted((a, b) => a.id - b.id)
  return fresh.map(({ run, attempt, kind }) => ({ run, attempt, kind }))
}

function* lockSlots(session: Session, locked: Set<string>, keys: readonly string[]): Verb<void> {
  if (session.isExclusive) return
  const missing = keys.filter((key) => !locked.has(key))
  if (missing.length === 0) return
  for (const key of missing) locked.add(key)
  const isFree = locked.size <= maxSlotLocks && (yield* session.sql.value(TRY_SLOTS, missing)) === 1
  if (!isFree) session.beExclusive()
}

function* lockQueue(session: Session, queue: string): Verb<void> {
  if (session.isExclusive) return
  if ((yield* session.sql.value(TRY_QUEUE, queue)) === undefined) session.beExclusive()
}

function* lockEntries(session: Session, locked: Set<string>, keys: readonly StateKey[]): Verb<void> {
  if (session.isExclusive) return
  const texts = keys.map(({ kind, name, item }) => JSON.stringify([kind, name, item]))
  const missing = texts.filter((text) => !locked.has(text))
  if (missing.length === 0) return
  const isFirst = locked.size === 0
  for (const text of missing) locked.add(text)
  if (locked.size > maxEntryLocks) session.beExclusive()
  if (isFirst) yield* session.sql.value(LOCK_ENTRIES, missing)
  else if ((yield* session.sql.value(TRY_ENTRIES, missing)) !== 1) session.beExclusive()
}

function* lockUniqueKey(session: Session, job: string, key: string): Verb<void> {
  if ((yield* session.sql.value(TRY_LOCK, job, key)) === 1) return
  throw new KeyTaken(`the unique key ${key} of ${job} is being recorded in a transaction that has not ended`)
}
