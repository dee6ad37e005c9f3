import type { Run } from '../../../kernel/run/run.js'
import type { LateRequest } from '../../overview.js'
import { runOf, type RunRow } from '../rows/run-rows.js'
import { blocked, delayed, ready } from '../rows/states.js'
import { FROM_RUNS } from '../runs/read-runs.js'
import type { Session } from '../session.js'
import { each } from '../statement.js'
import type { Verb } from '../verb.js'

const headOf = (column: string): string => `select runs.${column} from rota.runs
  where state = ${ready} and runs.job = lines.job and runs.priority = lines.priority
  order by runs.run_at, runs.seq limit 1`

// Ready runs form one line for each job and priority. This jumps from line to line, however long each is. The oldest
// runs of all are in the lines with the oldest heads.
const LINES = `with recursive jobs (job) as (
    select (select runs.job from rota.runs where state = ${ready} order by runs.job limit 1)
    union all
    select (
      select runs.job from rota.runs where state = ${ready} and runs.job > jobs.job order by runs.job limit 1
    ) from jobs where jobs.job is not null
  ), lines (job, priority) as (
    select jobs.job, (
      select runs.priority from rota.runs where state = ${ready} and runs.job = jobs.job
      order by runs.priority desc limit 1
    ) from jobs where jobs.job is not null
    union all
    select lines.job, (
      select runs.priority from rota.runs
      where state = ${ready} and runs.job = lines.job and runs.priority < lines.priority
      order by runs.priority desc limit 1
    ) from lines where lines.priority is not null
  ), heads as (
    select * from (
      select lines.job, lines.priority, (${headOf('run_at')}) as head_at, (${headOf('seq')}) as head
      from lines where lines.priority is not null
    ) found where head_at <= $1 order by head_at, head limit $2
  )`

const ofLine = `select waiting.seq, waiting.run_at from rota.runs waiting
  where waiting.state = ${ready} and waiting.job = heads.job and waiting.priority = heads.priority
    and waiting.run_at <= $1
  order by waiting.run_at, waiting.seq limit $2`

// Rely on: runs_ready, runs_blocked and runs_delayed; the rows of runs are read only for those that are shown.
const lateIn = (readyRuns: string): string => `${LINES}, late (seq) as (
    select seq from (
      ${readyRuns}
      union all select seq, run_at from rota.runs where state = ${delayed} and run_at <= $1
      union all select seq, run_at from rota.runs where state = ${blocked} and run_at <= $1
    ) waiting order by run_at, seq limit $2
  ) ${FROM_RUNS} where runs.seq = any(array(select seq from late)) order by runs.run_at, runs.seq`

const LATE = each({
  sqlite: lateIn(
    `select first.value ->> 0 as seq, first.value ->> 1 as run_at from heads,
      json_each((select json_group_array(json_array(seq, run_at)) from (${ofLine}))) first`,
  ),
  postgres: lateIn(`select first.seq, first.run_at from heads cross join lateral (${ofLine}) first`),
})

/** The pending runs that should have started, the longest overdue first. */
export function* late(session: Session, { now, byMs, limit }: LateRequest): Verb<Run[]> {
  return (yield* session.sql.all<RunRow>(LATE, now - byMs, limit)).map(runOf)
}
