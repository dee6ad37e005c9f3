import type { Tick } from '../../kernel/tick/tick.js'
import { supersede } from './cancel.js'
import { insertRuns } from './enqueue.js'
import { recordRanges } from '../sql/planning/ledger.js'
import { areCurrent, writeStateEntry } from '../sql/state.js'
import { remember } from '../sql/planning/seen.js'
import type { Session } from './session.js'

// Relies on: primary key. The revision closes the race of two schedulers for one tick: the second finds no row.
const MOVE_CURSOR = `update rota.triggers set cursor_at = $1, next_at = $2, kept_at = null, revision = revision + 1
  where name = $3 and revision = $4 and is_active = 1`

// Relies on: the primary keys of both. Closes the race of an arrival that came after the tick had read: it waits no longer.
const LOOK_AGAIN = `update rota.triggers set next_at = $1 where name = $2 and next_at is null
  and exists (select 1 from rota.notes where kind = 'arrival' and name = $2)`

const SET_CHAIN = `update rota.triggers set chain_run = $1 where name = $2`

/** Commits ticks: each one whole, or nothing of it where the trigger has moved on. */
export async function tick(session: Session, batch: readonly Tick[]): Promise<('ticked' | 'stale')[]> {
  session.beExclusive()
  const answers: ('ticked' | 'stale')[] = []
  for (const item of batch) answers.push(await tickOne(session, item))
  return answers
}

async function tickOne(session: Session, item: Tick): Promise<'ticked' | 'stale'> {
  const { cursorAt, nextAt = null, trigger, revision } = item
  if (item.notes !== undefined && !(await session.db.perform(areCurrent(item.notes)))) return 'stale'
  if ((await session.db.change(MOVE_CURSOR, cursorAt, nextAt, trigger, revision)) === 0) return 'stale'
  await writeTick(session, item)
  if (item.takesArrivals === true) await session.db.change(LOOK_AGAIN, item.at, trigger)
  return 'ticked'
}

/** Writes what a tick found: its runs, its ranges, and what its newest run does to the older ones. */
export async function writeTick(session: Session, item: Tick): Promise<void> {
  session.remembered.noteTime(item.at)
  if (item.chainRun !== undefined) await session.db.change(SET_CHAIN, item.chainRun, item.trigger)
  await insertRuns(session, item.runs, item.at)
  await session.db.perform(recordRanges(item.ranges, item.at))
  for (const note of item.notes ?? []) await session.db.perform(writeStateEntry(note, item.at))
  if (item.seen !== undefined) await session.db.perform(remember(item.trigger, item.seen))
  if (item.supersede === undefined) return
  const own = new Set(item.runs.map((run) => run.id))
  await supersede(session, { ...item.supersede, trigger: item.trigger, own, now: item.at })
}
