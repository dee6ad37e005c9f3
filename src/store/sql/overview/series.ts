import { binBounds } from '../../../kernel/statistics/histogram.js'
import type { FinalState } from '../../../kernel/run/run.js'
import type { SeriesRequest, SeriesRows } from '../../series.js'
import { originCode } from '../rows/run-rows.js'
import { done, stateName } from '../rows/states.js'
import type { SqlValue } from '../statement.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

/** How many ends one step reads: other work continues in between. */
const endsPerLook = 1000

/** The last end that was read; many runs may have ended in the same millisecond. */
export interface LastEnd {
  readonly finished_at: number
  readonly seq: number
}

// Relies on: runs_ended, whose rows SQLite keeps in the order of their keys.
const LOOK_END = `select finished_at, seq from rota.runs
  where state >= ${done} and finished_at >= $1 and finished_at < $2 and (finished_at > $1 or seq > $3)
  order by finished_at, seq limit 1 offset ${endsPerLook - 1}`

/** The bin of an expression, and -1 for null. */
const binOf = (ms: string): string =>
  `case when ${ms} is null then -1 ${binBounds.map((bound, bin) => `when ${ms} <= ${bound} then ${bin}`).join(' ')} else ${binBounds.length} end`

const TOOK = binOf('(finished_at - started_at)')
// A run of a backfill was never meant to begin at its due instant.
const LATE = binOf(
  `(case when attempt = 1 and origin <> ${originCode('backfill')} then started_at - due_at end)`,
)

interface CountRow {
  readonly bucket_at: number
  readonly job: string | null
  readonly state: number
  readonly took: number
  readonly late: number
  readonly runs: number
}

/** Counts a bounded number of ends after the last one that was read; returns where to continue. */
export function* seriesPart(
  session: Session,
  request: SeriesRequest,
  { after, rows }: { after: LastEnd | undefined; rows: SeriesRows },
): Verb<LastEnd | undefined> {
  const { fromAt, untilAt, bucketMs, byJob, jobs } = request
  const from = after ?? { finished_at: fromAt, seq: -1 }
  const end = yield* session.sql.get<LastEnd>(LOOK_END, from.finished_at, untilAt, from.seq)
  const until = end ?? { finished_at: untilAt, seq: -1 }
  const values: SqlValue[] = [fromAt, bucketMs, from.finished_at, from.seq, until.finished_at, until.seq]
  if (jobs !== undefined) values.push(jobs)
  // Relies on: runs_ended.
  const sql = `select finished_at - (finished_at - $1::int8) % $2::int8 as bucket_at,
      ${byJob === true ? 'job' : 'null as job'}, state, ${TOOK} as took, ${LATE} as late, count(*) as runs
    from rota.runs where state >= ${done} and finished_at >= $3 and finished_at <= $5
      and (finished_at > $3 or seq > $4) and (finished_at < $5 or seq <= $6)
      ${jobs === undefined ? '' : 'and job = any($7::text[])'}
    group by bucket_at, ${byJob === true ? 'job, ' : ''}state, took, late`
  for (const row of yield* session.sql.all<CountRow>(sql, ...values)) {
    const key = {
      bucketAt: row.bucket_at,
      job: row.job ?? undefined,
      state: stateName(row.state) as FinalState,
    }
    const bin = (found: number): number | undefined => (found === -1 ? undefined : found)
    rows.add(key, row.runs, { took: bin(row.took), late: bin(row.late) })
  }
  return end
}
