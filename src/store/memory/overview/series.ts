import { binOf } from '../../../kernel/statistics/histogram.js'
import type { FinalState, Run } from '../../../kernel/run/run.js'
import type { LateRequest } from '../../overview.js'
import { SeriesRows, type SeriesRequest, type SeriesRow } from '../../series.js'
import { toRun } from '../reading.js'
import { stateOf, type RunRow, type Tables } from '../tables.js'

/** Counts the ends of runs in a range of time. */
export function series(tables: Tables, request: SeriesRequest): SeriesRow[] {
  const { fromAt, untilAt, bucketMs, byJob, jobs } = request
  const rows = new SeriesRows()
  for (const row of tables.final.from(({ finishedAt }) => (finishedAt ?? 0) < fromAt)) {
    const { finishedAt = 0, startedAt, dueAt, attempt, job } = row
    if (finishedAt >= untilAt) break
    if (jobs?.includes(job) === false) continue
    const bucketAt = finishedAt - ((finishedAt - fromAt) % bucketMs)
    const key = { bucketAt, job: byJob === true ? job : undefined, state: stateOf(row.phase) as FinalState }
    const took = startedAt === undefined ? undefined : binOf(finishedAt - startedAt)
    const isFirst = attempt === 1 && row.origin !== 'backfill'
    const late = startedAt === undefined || !isFirst ? undefined : binOf(startedAt - dueAt)
    rows.add(key, 1, { took, late })
  }
  return rows.rows()
}

/** The pending runs that should have started, the longest overdue first. */
export function late(tables: Tables, { now, byMs, limit }: LateRequest): Run[] {
  const waiting: RunRow[] = []
  for (const row of tables.runs.values()) {
    if (stateOf(row.phase) === 'pending' && row.runAt <= now - byMs) waiting.push(row)
  }
  return waiting
    .toSorted((a, b) => a.runAt - b.runAt || a.seq - b.seq)
    .slice(0, limit)
    .map(toRun)
}
