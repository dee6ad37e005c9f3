import type { Troubled } from '../../overview.js'
import { runOf, type RunRow } from '../rows/run-rows.js'
import { done, failed } from '../rows/states.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { FROM_RUNS, UNHAPPY } from '../runs/read-runs.js'

/** How many failed runs are read, the newest first. */
const mostLookedAt = 1000

// Relies on: runs_unhappy for the newest failed ones, runs_trigger for a later run of each that is done.
const TROUBLED = `${FROM_RUNS} where runs.id = any(array(
    select id from (
      select newest.id, row_number() over (partition by newest.trigger, newest.job order by newest.id desc) as place
      from (
        select id, trigger, job, partition, due_at from rota.runs
        where ${UNHAPPY} and state = ${failed} order by id desc limit ${mostLookedAt}
      ) newest where not exists (
        select 1 from rota.runs later where later.trigger = newest.trigger and later.due_at > newest.due_at
          and later.state = ${done} and coalesce(later.partition, '') = coalesce(newest.partition, '')
      )
    ) placed where place <= $2
  )) order by runs.id desc limit $1`

// Relies on: runs_unhappy.
const IS_MORE = `select 1 from rota.runs
  where ${UNHAPPY} and state = ${failed} order by id desc limit 1 offset ${mostLookedAt}`

/** The newest failed runs that are not repaired, at most `each` of one trigger and job. */
export function* troubled(
  session: Session,
  { limit, each }: { limit: number; each: number },
): Verb<Troubled> {
  const runs = (yield* session.sql.all<RunRow>(TROUBLED, limit, each)).map(runOf)
  const [older] = yield* session.sql.all(IS_MORE)
  return { runs, lookedAt: older === undefined ? undefined : mostLookedAt }
}
