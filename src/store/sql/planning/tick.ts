import type { Tick } from '../../../kernel/tick/tick.js'
import { supersede } from '../runs/cancel.js'
import { insertRuns } from '../runs/enqueue.js'
import type { Session } from '../session.js'
import { areCurrent, writeStateEntry } from '../state.js'
import type { Verb } from '../verb.js'
import { recordRanges } from './ledger.js'
import { remember } from './seen-keys.js'

// Relies on: primary key. The revision closes the race of two schedulers for one tick: the second finds no row.
const MOVE_CURSOR = `update rota.triggers set cursor_at = $1, next_at = $2, kept_at = null, revision = revision + 1
  where name = $3 and revision = $4 and is_active = 1`

// Relies on: the primary keys of both. Closes the race of an arrival that came after the tick had read: the trigger is
// looked at again.
const LOOK_AGAIN = `update rota.triggers set next_at = $1 where name = $2 and next_at is null
  and exists (select 1 from rota.notes where kind = 'arrival' and name = $2)`

const SET_CHAIN = `update rota.triggers set chain_run = $1 where name = $2`

/** Commits ticks: each one whole, or nothing of it where the trigger has moved on. */
export function* tick(session: Session, batch: readonly Tick[]): Verb<('ticked' | 'stale')[]> {
  if (batch.some(readsOthers)) session.beExclusive()
  const answers: ('ticked' | 'stale')[] = []
  for (const item of batch) answers.push(yield* tickOne(session, item))
  return answers
}

/** Whether a tick decides by more than the revision of its trigger: state entries, arrivals, or the older runs that it supersedes. */
export function readsOthers({ stateChanges, seen, takesArrivals, supersede: older }: Tick): boolean {
  return stateChanges !== undefined || seen !== undefined || takesArrivals === true || older !== undefined
}

function* tickOne(session: Session, item: Tick): Verb<'ticked' | 'stale'> {
  const { cursorAt, nextAt = null, trigger, revision } = item
  if (item.stateChanges !== undefined && !(yield* areCurrent(session, item.stateChanges))) return 'stale'
  if ((yield* session.sql.change(MOVE_CURSOR, cursorAt, nextAt, trigger, revision)) === 0) return 'stale'
  yield* writeTick(session, item)
  if (item.takesArrivals === true) yield* session.sql.change(LOOK_AGAIN, item.at, trigger)
  return 'ticked'
}

/** Writes what a tick found: its runs, its ranges, and what its newest run does to the older ones. */
export function* writeTick(session: Session, item: Tick): Verb<void> {
  session.noteTime(item.at)
  if (item.chainRun !== undefined) yield* session.sql.change(SET_CHAIN, item.chainRun, item.trigger)
  yield* insertRuns(session, item.runs, item.at)
  yield* recordRanges(session, item.ranges, item.at)
  for (const entry of item.stateChanges ?? []) yield* writeStateEntry(session, entry, item.at)
  if (item.seen !== undefined) yield* remember(session, item.trigger, item.seen)
  if (item.supersede === undefined) return
  const own = new Set(item.runs.map((run) => run.id))
  yield* supersede(session, { ...item.supersede, trigger: item.trigger, own, now: item.at })
}
