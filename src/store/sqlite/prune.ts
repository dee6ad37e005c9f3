import { addCounts, writeCounts } from '../../kernel/ledger/pruned-counts.js'
import type { Instant } from '../../time/instant.js'
import { originCode, type RangeRow } from '../sql/rows/run-rows.js'
import { done, stateName } from '../sql/rows/states.js'
import { recordRanges } from '../sql/planning/ledger.js'
import { forgetExpired } from '../sql/planning/seen.js'
import type { Session } from './session.js'

// Relies on: runs_ended. Unfinished runs do not stand in it, so none of them can go.
const OLDEST = `select json_group_array(json_array(seq, trigger, due_at, version, state)) from (
    select seq, case when origin = ${originCode('trigger')} then trigger end as trigger, due_at, version, state from runs
    where state >= ${done} and finished_at < ? order by finished_at, id limit ?
  )`

// Relies on: primary keys.
const FORGET_ATTEMPTS = `delete from attempts where run in (select value from json_each(?))`
const FORGET_LOGS = `delete from logs where run in (select value from json_each(?))`
const FORGET_LOG_USE = `delete from log_use where run in (select value from json_each(?))`
const FORGET_RUNS = `delete from runs where seq in (select value from json_each(?))`

// Relies on: ledger_first.
const BEFORE = `select * from ledger where trigger = ?1 and (first_at < ?2 or (first_at = ?2 and seq < ?3))
  order by first_at desc, seq desc limit 1`

const AFTER = `select * from ledger where trigger = ?1 and (first_at > ?2 or (first_at = ?2 and seq > ?3))
  order by first_at, seq limit 1`

// Relies on: runs_trigger.
const RUN_BETWEEN = `select 1 from runs
  where trigger = ? and due_at > ? and due_at < ? and origin = ${originCode('trigger')} limit 1`

const GROW = `update ledger set last_at = ?, detail = ?, recorded_at = ? where seq = ?`

const FORGET_RANGE = `delete from ledger where seq = ?`

type Victim = [seq: number, trigger: string | null, dueAt: number, version: number | null, state: number]

type Pruned = Pick<
  RangeRow,
  'seq' | 'trigger' | 'first_at' | 'last_at' | 'version' | 'reason' | 'detail' | 'recorded_at'
>

/** Removes the oldest final runs; a trigger's own ones leave a `pruned` range, so that none of them comes back. */
export function prune(session: Session, request: { before: Instant; limit: number; now: Instant }): number {
  const { db } = session
  session.db.perform(forgetExpired(request))
  const victims = db.json<Victim[]>(OLDEST, request.before, request.limit)
  if (victims.length === 0) return 0
  const seqs = JSON.stringify(victims.map(([seq]) => seq))
  for (const sql of [FORGET_ATTEMPTS, FORGET_LOGS, FORGET_LOG_USE, FORGET_RUNS]) db.change(sql, seqs)
  for (const victim of victims) if (victim[1] !== null) recordPruned(session, victim, request.now)
  return victims.length
}

function recordPruned(session: Session, [, trigger, dueAt, version, state]: Victim, now: Instant): void {
  const pruned: Pruned = {
    seq: 0,
    trigger: trigger as string,
    first_at: dueAt,
    last_at: dueAt,
    version: version ?? 0,
    reason: 'pruned',
    detail: writeCounts({ [stateName(state)]: 1 }),
    recorded_at: now,
  }
  const before = session.db.get<RangeRow>(BEFORE, pruned.trigger, dueAt, Number.MAX_SAFE_INTEGER)
  const joined = join(session, before, pruned) ?? insert(session, pruned)
  const after = session.db.get<RangeRow>(AFTER, joined.trigger, joined.first_at, joined.seq)
  if (after === undefined || join(session, joined, after) === undefined) return
  session.db.change(FORGET_RANGE, after.seq)
}

function insert(session: Session, pruned: Pruned): Pruned {
  const { trigger, first_at: firstAt, last_at: lastAt, version, recorded_at: recordedAt } = pruned
  const detail = pruned.detail ?? undefined
  const range = { trigger, version, firstAt, lastAt, reason: 'pruned', rule: 'prune', detail } as const
  return { ...pruned, seq: session.db.perform(recordRanges([range], recordedAt))[0] as number }
}

/** Two pruned ranges of one version become the first of them, where nothing that remains lies between. */
function join(session: Session, first: Pruned | undefined, second: Pruned): Pruned | undefined {
  if (first === undefined || first.reason !== 'pruned' || second.reason !== 'pruned') return undefined
  if (first.version !== second.version) return undefined
  const { db } = session
  if (db.value(RUN_BETWEEN, first.trigger, first.last_at, second.first_at) !== undefined) return undefined
  const joined = {
    ...first,
    last_at: Math.max(first.last_at, second.last_at),
    detail: addCounts(first.detail, second.detail),
    recorded_at: Math.max(first.recorded_at, second.recorded_at),
  }
  db.change(GROW, joined.last_at, joined.detail, joined.recorded_at, joined.seq)
  return joined
}
