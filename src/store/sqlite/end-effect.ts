import { arrivalOf, arrives, notesAfter, notesBehind, wakesItsTrigger } from '../../kernel/run/end-effect.js'
import { followOf } from '../sql/rows.js'
import { endedRunOf, type EndedRow, type RunEnd, type Unfinished } from '../sql/unfinished.js'
import { stateValue, writeStateEntry } from './state.js'
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
  run: Pick<Unfinished, 'seq' | 'id' | 'job' | 'trigger' | 'follow'>,
  end: RunEnd,
): void {
  const { db } = session
  const follow = followOf(run.follow)
  if (follow === undefined) return
  if (follow === 'chain') {
    db.change(CONTINUE_CHAIN, end.at, run.trigger, run.id)
    return
  }
  const ended = endedRunOf(run, db.get<EndedRow>(ENDED, run.seq) as EndedRow, end)
  const values = notesBehind(follow, ended).map((key) => stateValue(session, key))
  for (const change of notesAfter(follow, ended, values)) writeStateEntry(session, change, end.at)
  if (wakesItsTrigger(follow)) db.change(LOOK_AT, end.at, run.trigger)
  if (!arrives(follow, end.state)) return
  for (const { trigger } of db.all<{ trigger: string }>(FOLLOWERS, run.job)) {
    writeStateEntry(session, arrivalOf(trigger, ended), end.at)
    db.change(ARRIVED, end.at, trigger)
  }
}
