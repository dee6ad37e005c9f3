import type { Enqueued, Turn, TurnAnswer } from '../../port.js'
import { done, running } from '../../sql/rows/states.js'
import { claimsOf, recorded, rememberTurn, type ClaimRow, type PlainPart } from './plain.js'
import type { Session } from './session.js'

// Relies on: primary key of fences. What is still under way with the old one finds itself replaced.
const RAISE_FENCE = `insert into rota.fences (writer, fence, at) values ($1, $2, $3)
  on conflict (writer) do update set fence = excluded.fence, at = excluded.at`

// Nothing is under way for a day: a handful of rows at most.
const FORGET_FENCES = `delete from rota.fences where at < $1`

// Relies on: the unique index of workers.id.
const KEY = `select key from rota.workers where id = $1`

// Relies on: the unique index of runs.id. One that existed before was recorded at another time.
const RECORDED = `select count(*) from unnest($1::text[], $2::int8[]) given (id, at)
  join rota.runs on runs.id = given.id and runs.created_at = given.at`

// Relies on: the unique index of runs.id; the sum keeps the server from looking at the state first.
const ENDED = `select count(*) from rota.runs
  where id = any($1::text[]) and worker = $2 and state + 0 = ${done} and attempt = 1`

// Relies on: runs_running. What was claimed at another time is of another turn.
const HELD = `select ctid as place, seq, priority, run_at, id, job, trigger, attempt, failures, crashes, due_at, partition,
    payload, gates is null and follow is null as is_plain
  from rota.runs where state = ${running} and worker = $1 and claimed_at = $2`

type Answers = readonly (readonly Enqueued[] | TurnAnswer)[]

/**
 * What became of a usual transaction whose answer was lost: its answers, or nothing where it never came to be. Nobody else
 * writes meanwhile, so none is in the middle of it; and one that has yet to arrive is refused by the fence. It is known by all that it was to write: runs by their ids, ends
 * by their worker. Only one that was to write neither is known by what it has claimed.
 */
export async function becameOf(session: Session, parts: readonly PlainPart[]): Promise<Answers | undefined> {
  session.beExclusive()
  const { db, remembered } = session
  await raiseFence(session)
  const ids = parts.flatMap(({ enqueue }) => enqueue?.runs.map(({ id }) => id) ?? [])
  const at = parts.flatMap(({ enqueue }) => enqueue?.runs.map(() => enqueue.now) ?? [])
  const turn = parts.find((part) => part.turn !== undefined)?.turn
  if (ids.length > 0 && (await db.value(RECORDED, ids, at)) !== ids.length) return undefined
  const held = turn === undefined ? undefined : await heldBy(session, turn)
  if (held?.areEndsThere === false) return undefined
  const isKnown = ids.length > 0 || (turn?.finished.length ?? 0) > 0
  if (!isKnown && (held?.unknown.length ?? 0) === 0) return undefined
  return parts.map((part) => {
    if (part.enqueue !== undefined) return recorded(part.enqueue)
    const rows = held?.unknown ?? []
    session.afterCommit(() => rememberTurn(remembered, part.turn, rows))
    return {
      expired: false,
      finished: part.turn.finished.map(() => 'stored'),
      claims: claimsOf(rows, part.turn.now),
      // Nothing is known of the rest: the next turn looks, and is also told again what there is to be told.
      more: part.turn.claimRequest !== undefined,
      nextRunAt: part.turn.now,
      notices: [],
      jobsRevision: part.catalog.jobsRevision,
    }
  })
}

/** Lets everything come too late that this process has sent before. */
export async function raiseFence(session: Session): Promise<void> {
  const { db, remembered } = session
  const at = remembered.highestAt
  // At once, not after the commit: who knows a later one than the store is not refused.
  remembered.fence += 1
  await db.change(RAISE_FENCE, remembered.writer, remembered.fence, at)
  await db.change(FORGET_FENCES, at - dayMs)
  session.afterCommit(() => {
    remembered.isFenceDue = false
  })
}

const dayMs = 86_400_000

/** What a worker's turn has written, as far as this process does not know it. */
async function heldBy(
  session: Session,
  { worker, finished, now }: Turn,
): Promise<{ areEndsThere: boolean; unknown: readonly ClaimRow[] }> {
  const { db, remembered } = session
  const key = ((await db.value(KEY, worker)) as number | undefined) ?? null
  const runs = finished.map(({ run }) => run)
  const areEndsThere = runs.length === 0 || (await db.value(ENDED, runs, key)) === runs.length
  const held = await db.all<ClaimRow>(HELD, key, now)
  return { areEndsThere, unknown: held.filter(({ id }) => remembered.claimOf(id) === undefined) }
}
