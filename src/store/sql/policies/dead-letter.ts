import { deadLetterRun } from '../../../kernel/run/dead-letter.js'
import { jobOf } from '../catalog.js'
import { fromJson } from '../rows/run-rows.js'
import { endedRunOf, type EndedRow, type RunEnd, type Unfinished } from '../rows/unfinished.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { insertRuns } from '../runs/enqueue.js'

// Relies on: primary key.
const FAILED = `select partition, due_at, started_at, error, payload from rota.runs where seq = $1`

/** Records the run of the dead-letter job, if the job of a run that failed has one. */
export function* sendDeadLetter(session: Session, run: Unfinished, end: RunEnd): Verb<void> {
  const catalog = yield* session.catalog()
  const name = catalog.jobs.get(run.job)?.deadLetter
  if (name === undefined) return
  const row = (yield* session.sql.get<EndedRow & { payload: string | null }>(FAILED, run.seq)) as EndedRow & {
    payload: string | null
  }
  const failed = { ...endedRunOf(run, row, end), attempt: run.attempt, payload: fromJson(row.payload) }
  yield* insertRuns(session, [deadLetterRun(failed, jobOf(catalog, name))], end.at)
}
