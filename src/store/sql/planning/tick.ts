import type { Tick } from '../../../kernel/tick/tick.js'
import { supersede } from '../runs/cancel.js'
import { insertRuns } from '../runs/enqueue.js'
import type { Session } from '../session.js'
import { areCurrent, writeStateEntry } from '../state.js'
import { each } from '../statement.js'
import type { Verb } from '../verb.js'
import { recordRanges } from './ledger.js'
import { remember } from './seen-keys.js'

// Relies on: primary key. The revision closes the race of two schedulers for one tick: the second finds no row.
const MOVE_CURSOR = `update rota.triggers set cursor_at = $1, next_at = $2, kept_at = null, revision = revision + 1
  where name = $3 and revision = $4 and is_active = 1`

// Relies on: primary key, then the places of the rows. The revision closes the same race for each of them. Locked by
// name: two schedulers that move the same triggers must not wait for each other. Whoever waited finds nothing at the
// place that it read, or another revision.
const MOVE_CURSORS = each({
  sqlite: `update triggers set cursor_at = $2, next_at = $3, kept_at = null, revision = revision + 1
    where name = $1 and revision = $4 and is_active = 1`,
  postgres: `with locked as materialized (
      select triggers.ctid as place, given.cursor_at, given.next_at, given.revision
      from unnest($1::text[], $2::int8[], $3::int8[], $4::int8[]) given (name, cursor_at, next_at, revision)
      join rota.triggers on triggers.name = given.name
      where triggers.name = any($1::text[]) order by triggers.name for update of triggers
    ) update rota.triggers set cursor_at = locked.cursor_at, next_at = locked.next_at, kept_at = null,
      revision = triggers.revision + 1
    from locked
    where triggers.ctid = locked.place and triggers.revision = locked.revision and triggers.is_active = 1
    returning triggers.name as key`,
})

// Relies on: the primary keys of both. Closes the race with an arrival after the tick has read: the trigger is planned
// again.
const LOOK_AGAIN = `update rota.triggers set next_at = $1 where name = $2 and next_at is null
  and exists (select 1 from rota.notes where kind = 'arrival' and name = $2)`

const SET_CHAIN = `update rota.triggers set chain_run = $1 where name = $2`

/** Commits ticks: each one completely, or not at all if its trigger has changed. */
export function* tick(session: Session, batch: readonly Tick[]): Verb<TickAnswer[]> {
  // What a newer run does to older ones depends on rows that others may change.
  if (batch.some((item) => item.supersede !== undefined)) session.beExclusive()
  // All at once, and before the rows of these triggers are locked.
  yield* session.native.lockEntries(batch.flatMap(({ stateChanges }) => stateChanges ?? []))
  const answers: TickAnswer[] = []
  while (answers.length < batch.length) {
    const start = answers.length
    const together = independentFrom(batch, start)
    if (together > 1) answers.push(...(yield* tickTogether(session, batch.slice(start, start + together))))
    else answers.push(yield* tickOne(session, batch[start] as Tick))
  }
  return answers
}

type TickAnswer = 'ticked' | 'stale'

/** How many ticks from an index on are independent of each other and were planned at the same time. */
function independentFrom(batch: readonly Tick[], start: number): number {
  const { at } = batch[start] as Tick
  const triggers = new Set<string>()
  let end = start
  for (let item = batch[end]; item !== undefined && item.at === at; item = batch[++end]) {
    if (readsOthers(item) || item.chainRun !== undefined || triggers.has(item.trigger)) break
    triggers.add(item.trigger)
  }
  return end - start
}

/** Commits ticks with a few statements for all of them: a thousand triggers may be due in the same second. */
function* tickTogether(session: Session, batch: readonly Tick[]): Verb<TickAnswer[]> {
  const { at } = batch[0] as Tick
  session.noteTime(at)
  const moved = yield* session.sql.added(
    MOVE_CURSORS,
    batch.map(({ trigger, cursorAt, nextAt = null, revision }) => [trigger, cursorAt, nextAt, revision]),
  )
  const ticked = batch.filter((_, i) => moved[i])
  yield* insertRuns(
    session,
    ticked.flatMap(({ runs }) => runs),
    at,
  )
  yield* recordRanges(
    session,
    ticked.flatMap(({ ranges }) => ranges),
    at,
  )
  return moved.map((hasMoved) => (hasMoved ? 'ticked' : 'stale'))
}

/** Whether a tick depends on more than its trigger's revision: state entries, arrivals, or runs that it supersedes. */
function readsOthers({ stateChanges, seen, takesArrivals, supersede: older }: Tick): boolean {
  return stateChanges !== undefined || seen !== undefined || takesArrivals === true || older !== undefined
}

function* tickOne(session: Session, item: Tick): Verb<TickAnswer> {
  const { cursorAt, nextAt = null, trigger, revision } = item
  if (item.stateChanges !== undefined && !(yield* areCurrent(session, item.stateChanges))) return 'stale'
  if ((yield* session.sql.change(MOVE_CURSOR, cursorAt, nextAt, trigger, revision)) === 0) return 'stale'
  yield* writeTick(session, item)
  if (item.takesArrivals === true) yield* session.sql.change(LOOK_AGAIN, item.at, trigger)
  return 'ticked'
}

/** Writes the result of a tick: its runs, its ranges, and what its newest run does to older ones. */
export function* writeTick(session: Session, item: Tick): Verb<void> {
  session.noteTime(item.at)
  if (item.chainRun !== undefined) yield* session.sql.change(SET_CHAIN, item.chainRun, item.trigger)
  yield* insertRuns(session, item.runs, item.at)
  yield* recordRanges(session, item.ranges, item.at)
  if (item.runs.length > 0 && item.stateChanges !== undefined) session.tell('anything')
  for (const entry of item.stateChanges ?? []) yield* writeStateEntry(session, entry, item.at)
  if (item.seen !== undefined) yield* remember(session, item.trigger, item.seen)
  if (item.supersede === undefined) return
  const own = new Set(item.runs.map((run) => run.id))
  yield* supersede(session, { ...item.supersede, trigger: item.trigger, own, now: item.at })
}
