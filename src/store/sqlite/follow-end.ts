import {
  arrivalOf,
  arrives,
  notesAfter,
  notesBehind,
  wakesItsTrigger,
  type EndedRun,
} from '../../model/follow.js'
import type { FinalState } from '../../model/run.js'
import type { Instant } from '../../time/instant.js'
import { noteValue, writeNote } from './notes.js'
import { errorOf, followOf, orUndefined } from './rows.js'
import type { Session } from './session.js'

// Relies on: primary key. The revision rises, so a tick computed before this end finds itself stale.
const CONTINUE_CHAIN = `update triggers set next_at = ? + chain_ms, revision = revision + 1
  where name = ? and chain_run = ? and chain_ms is not null and is_active = 1`

// Relies on: primary key.
const ENDED = `select partition, due_at, started_at, error from runs where seq = ?`

// Relies on: primary key. The revision rises for the same reason.
const LOOK_AT = `update triggers set next_at = min(?1, coalesce(next_at, ?1)), revision = revision + 1
  where name = ?2 and is_active = 1`

// Relies on: primary key. No new revision: under a steady stream of arrivals no tick would ever be current.
const ARRIVED = `update triggers set next_at = min(?1, coalesce(next_at, ?1)) where name = ?2 and is_active = 1`

// Relies on: primary key.
const FOLLOWERS = `select trigger from followers where asset = ? order by trigger`

/** Moves what the end of a run moves besides itself; its row says already that it is final. */
export function followEnd(
  session: Session,
  run: { seq: number; id: string; job: string; trigger: string | null; follow: number | null },
  end: { state: FinalState; at: Instant; reason: string | undefined },
): void {
  const { db } = session
  const follow = followOf(run.follow)
  if (follow === undefined) return
  if (follow === 'chain') {
    db.change(CONTINUE_CHAIN, end.at, run.trigger, run.id)
    return
  }
  const ended = endedRun(session, run, end)
  const values = notesBehind(follow, ended).map((key) => noteValue(session, key))
  for (const change of notesAfter(follow, ended, values)) writeNote(session, change, end.at)
  if (wakesItsTrigger(follow)) db.change(LOOK_AT, end.at, run.trigger)
  if (!arrives(follow, end.state)) return
  for (const { trigger } of db.all<{ trigger: string }>(FOLLOWERS, run.job)) {
    writeNote(session, arrivalOf(trigger, ended), end.at)
    db.change(ARRIVED, end.at, trigger)
  }
}

function endedRun(
  session: Session,
  { seq, id, job, trigger }: { seq: number; id: string; job: string; trigger: string | null },
  end: { state: FinalState; at: Instant; reason: string | undefined },
): EndedRun {
  type Row = { partition: string | null; due_at: number; started_at: number | null; error: string | null }
  const row = session.db.get<Row>(ENDED, seq) as Row
  return {
    id,
    job,
    trigger: orUndefined(trigger),
    partition: orUndefined(row.partition),
    dueAt: row.due_at,
    startedAt: orUndefined(row.started_at),
    error: errorOf(row.error),
    ...end,
  }
}
