import type { Instant } from '../../../time/instant.js'
import { slotsOf } from '../rows/run-rows.js'
import { delayed, ready } from '../rows/states.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { admit, type SlotRun } from './concurrency-slots.js'

/** The most runs that one turn makes ready: the rest follows in the next turns. */
const maxPromoted = 1000

// Relies on: runs_delayed. Rows that are not due are never read, and rows that another turn changes are skipped.
const MAKE_READY = `update rota.runs set state = ${ready} where seq = any(array(
    select seq from rota.runs where state = ${delayed} and run_at <= $1 and gates is null
    order by run_at, seq limit ${maxPromoted} for update skip locked
  ))`

// Relies on: runs_delayed_gated; in SQLite runs_delayed, from which the runs without slots were just removed.
const WITH_SLOTS = `select seq, job, gates from rota.runs where state = ${delayed} and run_at <= $1 and gates is not null
  order by run_at, seq limit ${maxPromoted}`

// Relies on: runs_delayed.
const NEXT_RUN = `select run_at from rota.runs where state = ${delayed} order by run_at limit 1`

/** Makes due runs ready in the order of their instants if their slots have room; returns when the next one is due. */
export function* promote(session: Session, now: Instant): Verb<Instant | undefined> {
  const next = yield* session.sql.value<Instant>(NEXT_RUN)
  if (next === undefined || next > now) return next
  const [, found] = yield* session.sql.together(
    session.sql.change(MAKE_READY, now),
    session.sql.all<DueRun>(WITH_SLOTS, now),
  )
  for (const run of yield* stillDelayed(session, found, now)) yield* admit(session, run)
  return yield* session.sql.value<Instant>(NEXT_RUN)
}

/** The runs that no other turn has admitted before this one had the locks of their slots. */
function* stillDelayed(session: Session, found: readonly DueRun[], now: Instant): Verb<readonly DueRun[]> {
  if (found.length === 0 || session.isExclusive) return found
  yield* session.native.lockSlots(found.flatMap(({ gates }) => slotsOf(gates).map(({ key }) => key)))
  const known = new Set(found.map(({ seq }) => seq))
  return (yield* session.sql.all<DueRun>(WITH_SLOTS, now)).filter(({ seq }) => known.has(seq))
}

type DueRun = SlotRun & { readonly seq: number }
