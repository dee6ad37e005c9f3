import type { Instant } from '../../time/instant.js'
import { delayed, ready } from '../sql/rows/states.js'
import { admit } from './gates.js'
import type { Session } from './session.js'

/** The most runs that one turn makes ready: the rest follows in the next ones. */
const maxPromoted = 1000

// Relies on: runs_delayed. Rows that are not due are never looked at.
const DUE = `select json_group_array(json_array(seq, job, gates)) from (
    select seq, job, gates from runs where state = ${delayed} and run_at <= ? order by run_at, seq limit ${maxPromoted}
  )`

// Relies on: primary key.
const MAKE_READY = `update runs set state = ${ready} where seq in (select value from json_each(?))`

// Relies on: runs_delayed.
const NEXT_RUN = `select run_at from runs where state = ${delayed} order by run_at limit 1`

/** Makes runs ready whose instant has come, in the order of those instants, as far as their gates have room. */
export function promote(session: Session, now: Instant): void {
  const { db } = session
  const next = db.value(NEXT_RUN)
  if (next === undefined || (next as number) > now) return
  const due = db.json<[number, string, string | null][]>(DUE, now)
  const plain: number[] = []
  for (const [seq, job, gates] of due) {
    if (gates === null) plain.push(seq)
    else admit(session, { seq, job, gates })
  }
  if (plain.length > 0) db.change(MAKE_READY, JSON.stringify(plain))
}

/** When the next delayed run becomes due. */
export function nextRunAt(session: Session): Instant | undefined {
  return session.db.value(NEXT_RUN) as Instant | undefined
}
