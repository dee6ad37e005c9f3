import type { Tick } from '../../kernel/tick/tick.js'
import { supersede } from './cancel.js'
import { insertRun } from './enqueue.js'
import { recordRanges } from '../sql/planning/ledger.js'
import { areCurrent, writeStateEntry } from '../sql/state.js'
import { remember } from '../sql/planning/seen.js'
import type { Session } from './session.js'

// Relies on: primary key. The revision closes the race of two schedulers for one tick: the second finds no row.
const MOVE_CURSOR = `update triggers set cursor_at = ?, next_at = ?, kept_at = null, revision = revision + 1
  where name = ? and revision = ? and is_active = 1`

// Relies on: the primary keys of both. Closes the race of an arrival that came after the tick had read: it waits no longer.
const LOOK_AGAIN = `update triggers set next_at = ?1 where name = ?2 and next_at is null
  and exists (select 1 from notes where kind = 'arrival' and name = ?2)`

const SET_CHAIN = `update triggers set chain_run = ? where name = ?`

/** Commits ticks: each one whole, or nothing of it where the trigger has moved on. */
export function tick(session: Session, batch: readonly Tick[]): ('ticked' | 'stale')[] {
  return batch.map((item) => tickOne(session, item))
}

function tickOne(session: Session, item: Tick): 'ticked' | 'stale' {
  const { cursorAt, nextAt = null, trigger, revision } = item
  if (item.notes !== undefined && !session.db.perform(areCurrent(item.notes))) return 'stale'
  if (session.db.change(MOVE_CURSOR, cursorAt, nextAt, trigger, revision) === 0) return 'stale'
  writeTick(session, item)
  if (item.takesArrivals === true) session.db.change(LOOK_AGAIN, item.at, trigger)
  return 'ticked'
}

/** Writes what a tick found: its runs, its ranges, and what its newest run does to the older ones. */
export function writeTick(session: Session, item: Tick): void {
  session.noteTime(item.at)
  if (item.chainRun !== undefined) session.db.change(SET_CHAIN, item.chainRun, item.trigger)
  for (const run of item.runs) insertRun(session, run, item.at)
  for (const range of item.ranges) session.db.perform(recordRanges([range], item.at))
  for (const note of item.notes ?? []) session.db.perform(writeStateEntry(note, item.at))
  if (item.seen !== undefined) session.db.perform(remember(item.trigger, item.seen))
  if (item.supersede === undefined) return
  const own = new Set(item.runs.map((run) => run.id))
  supersede(session, { ...item.supersede, trigger: item.trigger, own, now: item.at })
}
