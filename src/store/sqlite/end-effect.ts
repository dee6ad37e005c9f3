import { chainEffect } from '../../kernel/run/end-effect.js'
import { endEffectOf } from '../sql/rows/run-rows.js'
import { endedRunOf, type EndedRow, type RunEnd, type Unfinished } from '../sql/rows/unfinished.js'
import { stateValue, writeStateEntry } from '../sql/state.js'
import type { Session } from './session.js'

// Relies on: primary key. The revision rises, so a tick computed before this end finds itself stale.
const CONTINUE_CHAIN = `update triggers set next_at = ? + chain_ms, revision = revision + 1
  where name = ? and chain_run = ? and chain_ms is not null and is_active = 1`

// Relies on: primary key.
const ENDED = `select partition, due_at, started_at, error from runs where seq = ?`

// Relies on: primary key. The revision rises for the same reason.
const LOOK_AT = `update triggers set next_at = min(?1, coalesce(next_at, ?1)), revision = revision + 1
  where name = ?2 and is_active = 1`

// Relies on: primary key. The revision stays: with a steady stream of arrivals every tick would be stale.
const ARRIVED = `update triggers set next_at = min(?1, coalesce(next_at, ?1)) where name = ?2 and is_active = 1`

// Relies on: primary key.
const FOLLOWERS = `select trigger from followers where asset = ? order by trigger`

/** Changes what the end of a run changes besides the run, whose row is final already. */
export function applyEndEffect(
  session: Session,
  run: Pick<Unfinished, 'seq' | 'id' | 'job' | 'trigger' | 'follow'>,
  end: RunEnd,
): void {
  const { db } = session
  const effect = endEffectOf(session.endEffects, run.follow)
  if (effect === undefined) return
  if (effect === chainEffect) {
    db.change(CONTINUE_CHAIN, end.at, run.trigger, run.id)
    return
  }
  const ended = endedRunOf(run, db.get<EndedRow>(ENDED, run.seq) as EndedRow, end)
  const values = (effect.reads?.(ended) ?? []).map((key) => db.perform(stateValue(key)))
  for (const change of effect.changes?.(ended, values) ?? []) db.perform(writeStateEntry(change, end.at))
  if (effect.wakesTrigger === true) db.change(LOOK_AT, end.at, run.trigger)
  const arrival = effect.arrival?.(ended)
  if (arrival === undefined) return
  for (const { trigger } of db.all<{ trigger: string }>(FOLLOWERS, run.job)) {
    db.perform(writeStateEntry({ ...arrival, name: trigger }, end.at))
    db.change(ARRIVED, end.at, trigger)
  }
}
