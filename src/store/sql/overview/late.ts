import type { Run } from '../../../kernel/run/run.js'
import type { LateRequest } from '../../overview.js'
import { runOf, type RunRow } from '../rows/run-rows.js'
import { blocked, delayed, ready } from '../rows/states.js'
import { FROM_RUNS } from '../runs/read-runs.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

// Relies on: runs_ready, runs_blocked and runs_delayed alone; the rows of runs are read only for those that are shown.
const LATE = `${FROM_RUNS} where runs.seq = any(array(
    select seq from (
      select seq, run_at from rota.runs where state = ${ready} and run_at <= $1
      union all select seq, run_at from rota.runs where state = ${delayed} and run_at <= $1
      union all select seq, run_at from rota.runs where state = ${blocked} and run_at <= $1
    ) waiting order by run_at, seq limit $2
  )) order by runs.run_at, runs.seq`

/** The pending runs that should have started, the longest overdue first. */
export function* late(session: Session, { now, byMs, limit }: LateRequest): Verb<Run[]> {
  return (yield* session.sql.all<RunRow>(LATE, now - byMs, limit)).map(runOf)
}
