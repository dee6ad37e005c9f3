import { quantile, sizeOf, sumHistograms, type Histogram } from '../../kernel/statistics/histogram.js'
import { rolledSeries } from '../../engine/upkeep/rolled-series.js'
import type { SeriesRow } from '../../store/series.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** Which ends to count. */
export interface SeriesQuery {
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly bucketMs: number
  readonly by?: 'job' | 'queue' | undefined
  readonly jobs?: readonly string[] | undefined
}

/** Ends of runs over time, by bucket, and by job or queue if requested. */
export async function series(store: Store, query: SeriesQuery) {
  const { by, fromAt, untilAt, bucketMs, jobs } = query
  const rows = await rolledSeries(store, { fromAt, untilAt, bucketMs, jobs, byJob: by !== undefined })
  const keyOf = by === 'queue' ? await queueOfJob(store) : ({ job }: SeriesRow) => job
  const groups = new Map<string, SeriesRow[]>()
  for (const row of rows) {
    const key = JSON.stringify([row.bucketAt, keyOf(row)])
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  const items = [...groups.values()].map((group) => {
    const first = group[0] as SeriesRow
    return { bucketAt: first.bucketAt, key: keyOf(first), ...measured(group) }
  })
  return { fromAt, untilAt, bucketMs, items, total: measured(rows) }
}

/** The current queue of a job; a job that is no longer defined has none. */
async function queueOfJob(store: Store): Promise<(row: SeriesRow) => string | undefined> {
  const queues = new Map((await store.jobs()).map(({ job }) => [job.name, job.queue]))
  return ({ job }) => (job === undefined ? undefined : queues.get(job))
}

function measured(rows: readonly SeriesRow[]) {
  const runs = (state: SeriesRow['state']): number =>
    rows.reduce((sum, row) => (row.state === state ? sum + row.runs : sum), 0)
  return {
    done: runs('done'),
    failed: runs('failed'),
    cancelled: runs('cancelled'),
    durations: times(sumHistograms(rows.map(({ durations }) => durations))),
    lateness: times(sumHistograms(rows.map(({ lateness }) => lateness))),
  }
}

function times(histogram: Histogram) {
  const runs = sizeOf(histogram)
  if (runs === 0) return undefined
  const at = (share: number): number => quantile(histogram, share) ?? 0
  return { runs, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) }
}
