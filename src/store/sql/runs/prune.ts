import { addCounts, writeCounts } from '../../../kernel/ledger/pruned-counts.js'
import type { RunId } from '../../../kernel/identity/identity.js'
import type { EndedRun } from '../../../kernel/job/retention.js'
import type { Instant } from '../../../time/instant.js'
import type { PruneRequest, Store } from '../../port.js'
import { originCode, type RangeRow } from '../rows/run-rows.js'
import { done, stateName } from '../rows/states.js'
import { recordRanges } from '../planning/ledger.js'
import { forgetExpired } from '../planning/seen-keys.js'
import type { Session } from '../session.js'
import { pruningLock } from '../state.js'
import type { Verb } from '../verb.js'

// Relies on: runs_ended, which has no unfinished runs, so none can be removed.
const OLDEST = `select seq, case when origin = ${originCode('trigger')} then trigger end as trigger, due_at, version, state
  from rota.runs where state >= ${done} and finished_at < $1 order by finished_at, id limit $2`

// Relies on: the unique index of runs.id.
const NAMED = `select seq, case when origin = ${originCode('trigger')} then trigger end as trigger, due_at, version, state
  from rota.runs where id = any($3::text[]) and state >= ${done} and finished_at < $1
  order by finished_at, id limit $2`

// Relies on: runs_ended.
const ENDED = `select id, job, state, finished_at from rota.runs
  where state >= ${done} and finished_at <= $1 and (finished_at < $1 or id < $2)
  order by finished_at desc, id desc limit $3`

// Relies on: ledger_first. The lock of pruning closes the race with another range like this.
const NEWEST = `select max(seq) from rota.ledger where trigger = $1 and first_at = $2 and reason = 'pruned'`

// Relies on: primary keys.
const FORGET_ATTEMPTS = `delete from rota.attempts where run = any($1::int8[])`
const FORGET_LOGS = `delete from rota.logs where run = any($1::int8[])`
const FORGET_LOG_USE = `delete from rota.log_use where run = any($1::int8[])`
const FORGET_RUNS = `delete from rota.runs where seq = any($1::int8[])`

// Relies on: ledger_first.
const BEFORE = `select * from rota.ledger where trigger = $1 and (first_at, seq) < ($2, $3)
  order by first_at desc, seq desc limit 1`

const AFTER = `select * from rota.ledger where trigger = $1 and (first_at, seq) > ($2, $3)
  order by first_at, seq limit 1`

// Relies on: runs_trigger.
const RUN_BETWEEN = `select 1 from rota.runs
  where trigger = $1 and due_at > $2 and due_at < $3 and origin = ${originCode('trigger')} limit 1`

const GROW = `update rota.ledger set last_at = $1, detail = $2, recorded_at = $3 where seq = $4`

const FORGET_RANGE = `delete from rota.ledger where seq = $1`

interface Victim {
  readonly seq: number
  readonly trigger: string | null
  readonly due_at: number
  readonly version: number | null
  readonly state: number
}

type Pruned = Pick<
  RangeRow,
  'seq' | 'trigger' | 'first_at' | 'last_at' | 'version' | 'reason' | 'detail' | 'recorded_at'
>

/** Removes the oldest final runs; those of due instants leave a `pruned` range, so that they are not planned again. */
export function* prune(session: Session, { runs, ...request }: PruneRequest): Verb<number> {
  // Others may write meanwhile: they change nothing of final runs that matters here, and only pruning changes its ranges.
  yield* session.native.lockEntries([pruningLock])
  const { before, limit } = request
  yield* forgetExpired(session, request)
  const victims =
    runs === undefined
      ? yield* session.sql.all<Victim>(OLDEST, before, limit)
      : yield* session.sql.all<Victim>(NAMED, before, limit, [...runs])
  if (victims.length === 0) return 0
  const seqs = victims.map(({ seq }) => seq)
  // Whoever appends to a log holds its row of log_use, so what it appended is seen after that row is gone.
  for (const sql of [FORGET_LOG_USE, FORGET_LOGS, FORGET_ATTEMPTS, FORGET_RUNS])
    yield* session.sql.change(sql, seqs)
  for (const victim of victims) if (victim.trigger !== null) yield* recordPruned(session, victim, request.now)
  return victims.length
}

/** Final runs by their ends, the newest first. */
export function* endedRuns(
  session: Session,
  { after, limit }: Parameters<Store['endedRuns']>[0],
): Verb<readonly EndedRun[]> {
  const { finishedAt, id } = after ?? { finishedAt: Number.MAX_SAFE_INTEGER, id: '' }
  const rows = yield* session.sql.all<EndedRow>(ENDED, finishedAt, id, limit)
  return rows.map((row) => ({
    id: row.id,
    job: row.job,
    state: stateName(row.state) as EndedRun['state'],
    finishedAt: row.finished_at,
  }))
}

interface EndedRow {
  readonly id: RunId
  readonly job: string
  readonly state: number
  readonly finished_at: number
}

function* recordPruned(session: Session, victim: Victim, now: Instant): Verb<void> {
  const { trigger, due_at: dueAt, version, state } = victim
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
  const before = yield* session.sql.get<RangeRow>(BEFORE, pruned.trigger, dueAt, Number.MAX_SAFE_INTEGER)
  const joined = (yield* join(session, before, pruned)) ?? (yield* insert(session, pruned))
  const after = yield* session.sql.get<RangeRow>(AFTER, joined.trigger, joined.first_at, joined.seq)
  if (after === undefined || (yield* join(session, joined, after)) === undefined) return
  yield* session.sql.change(FORGET_RANGE, after.seq)
}

function* insert(session: Session, pruned: Pruned): Verb<Pruned> {
  const { trigger, first_at: firstAt, last_at: lastAt, version, recorded_at: recordedAt } = pruned
  const detail = pruned.detail ?? undefined
  const range = { trigger, version, firstAt, lastAt, reason: 'pruned', rule: 'prune', detail } as const
  yield* recordRanges(session, [range], recordedAt)
  return { ...pruned, seq: (yield* session.sql.value<number>(NEWEST, trigger, firstAt)) as number }
}

/** Merges two pruned ranges of one version into the first, if no remaining run is between them. */
function* join(session: Session, first: Pruned | undefined, second: Pruned): Verb<Pruned | undefined> {
  if (first === undefined || first.reason !== 'pruned' || second.reason !== 'pruned') return undefined
  if (first.version !== second.version) return undefined
  if ((yield* session.sql.value(RUN_BETWEEN, first.trigger, first.last_at, second.first_at)) !== undefined)
    return undefined
  const joined = {
    ...first,
    last_at: Math.max(first.last_at, second.last_at),
    detail: addCounts(first.detail, second.detail),
    recorded_at: Math.max(first.recorded_at, second.recorded_at),
  }
  yield* session.sql.change(GROW, joined.last_at, joined.detail, joined.recorded_at, joined.seq)
  return joined
}
