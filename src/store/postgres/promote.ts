import type { Instant } from '../../time/instant.js'
import { delayed, ready } from '../sql/rows/states.js'
import { admit } from './gates.js'
import type { Session } from './session.js'

/** The most runs that one turn makes ready: the rest follows in the next ones. */
const maxPromoted = 1000

// Relies on: runs_delayed. Rows that are not due are never looked at, and rows that another turn moves are passed.
const MAKE_READY = `update rota.runs set state = ${ready} where seq = any(array(
    select seq from rota.runs where state = ${delayed} and run_at <= $1 and gates is null
    order by run_at, seq limit ${maxPromoted} for update skip locked
  ))`

// Relies on: runs_delayed_gated.
const GATED = `select seq, job, gates from rota.runs where state = ${delayed} and run_at <= $1 and gates is not null
  order by run_at, seq limit ${maxPromoted}`

// Relies on: runs_delayed.
const NEXT_RUN = `select run_at from rota.runs where state = ${delayed} order by run_at limit 1`

/** Makes runs ready whose instant has come, in the order of those instants, as far as their gates have room. */
export async function promote(session: Session, now: Instant): Promise<void> {
  const { db } = session
  const [gated] = await Promise.all([
    db.all<{ seq: number; job: string; gates: string }>(GATED, now),
    db.change(MAKE_READY, now),
  ])
  if (gated.length > 0) session.beExclusive()
  for (const run of gated) await admit(session, run)
}

/** When the next delayed run becomes due. */
export async function nextRunAt(session: Session): Promise<Instant | undefined> {
  return (await session.db.value(NEXT_RUN)) as Instant | undefined
}
