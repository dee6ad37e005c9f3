/*
 * If the rate limit of its key allows no start yet, a run leaves the index of ready runs and is parked until the limit
 * allows one. So a claim never reads runs that may not start. A parked run keeps its slots and is shown as ready.
 */
import type { Instant } from '../../../time/instant.js'
import { blocked, ready } from '../rows/states.js'
import type { Session } from '../session.js'
import { each } from '../statement.js'
import type { Verb } from '../verb.js'

/** The most runs that one turn makes ready again: the rest follows in the next turns. */
const maxWoken = 1000

const PARK = `update rota.runs set state = ${blocked}, waits_for = $1 where seq = any($2::int8[])`

// Relies on: runs_blocked, which has the runs of a job by the instant until which they are parked.
const FIRST = `select waits_for from rota.runs where state = ${blocked} and waits_for >= $1 and waits_for < $2
  order by waits_for limit 1`

// The same.
const WAKE = `update rota.runs set state = ${ready}, waits_for = null where seq = any(array(
    select seq from rota.runs where state = ${blocked} and waits_for >= $1 and waits_for < $2
    order by waits_for limit ${maxWoken}
  ))`

// The same, once for each job.
const WAKE_ALL = each({
  sqlite: `update runs set state = ${ready}, waits_for = null where seq in (
      select seq from json_each($1) wanted cross join runs where state = ${blocked}
        and waits_for >= 'rate:' || wanted.value || '=' and waits_for < 'rate:' || wanted.value || '>'
    )`,
  postgres: `update rota.runs set state = ${ready}, waits_for = null from unnest($1::text[]) wanted (job)
    where state = ${blocked}
      and waits_for >= 'rate:' || wanted.job || '=' and waits_for < 'rate:' || wanted.job || '>'`,
})

/** Parks runs of a job, each until its instant. */
export function* park(
  session: Session,
  job: string,
  runs: readonly { readonly seq: number; readonly until: Instant }[],
): Verb<void> {
  const byInstant = new Map<Instant, number[]>()
  for (const { seq, until } of runs) byInstant.set(until, [...(byInstant.get(until) ?? []), seq])
  const parts = [...byInstant].map(([until, seqs]) => session.sql.change(PARK, untilText(job, until), seqs))
  if (parts.length > 0) yield* session.sql.together(...parts)
}

/** Makes parked runs of a job ready whose time has come, or that wait too long because the clock was set back. */
export function* wake(
  session: Session,
  { job, now, longestMs }: { job: string; now: Instant; longestMs: number },
): Verb<void> {
  const first = yield* firstParkedAt(session, job)
  if (first === undefined) return
  if (first <= now) yield* session.sql.change(WAKE, untilText(job, 0), untilText(job, now + 1))
  yield* session.sql.change(WAKE, untilText(job, now + longestMs + 1), endOf(job))
}

/** Makes all parked runs of these jobs ready, because their limits may have changed. */
export function* wakeAll(session: Session, jobs: readonly string[]): Verb<void> {
  if (jobs.length > 0) yield* session.sql.change(WAKE_ALL, jobs)
}

/** When the first parked run of a job may start. */
export function* firstParkedAt(session: Session, job: string): Verb<Instant | undefined> {
  const found = yield* session.sql.value<string>(FIRST, untilText(job, 0), endOf(job))
  return found === undefined ? undefined : Number(found.slice(found.lastIndexOf('=') + 1))
}

/** The text in `waits_for` of a parked run, instead of the key of a slot. No name contains an equals sign. */
function untilText(job: string, at: Instant): string {
  return `rate:${job}=${String(Math.max(0, at)).padStart(16, '0')}`
}

function endOf(job: string): string {
  return `rate:${job}>`
}
