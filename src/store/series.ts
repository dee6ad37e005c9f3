import { emptyHistogram, type Histogram } from '../kernel/statistics/histogram.js'
import type { FinalState } from '../kernel/run/run.js'
import type { Instant } from '../time/instant.js'

/** Which ends of runs to count, and in which buckets. */
export interface SeriesRequest {
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly bucketMs: number
  /** Whether each job is counted separately. */
  readonly byJob?: boolean | undefined
  /** Only these jobs; default: all. */
  readonly jobs?: readonly string[] | undefined
}

/** The runs that ended with one state in one bucket. */
export interface SeriesRow {
  readonly bucketAt: Instant
  /** Undefined if jobs are not counted separately. */
  readonly job: string | undefined
  readonly state: FinalState
  readonly runs: number
  /** The durations of the last attempts of started runs. */
  readonly durations: Histogram
  /** The delays from due instant to start of runs with one attempt. */
  readonly lateness: Histogram
}

/** Adds up counts to the rows of a series. */
export class SeriesRows {
  readonly #rows = new Map<string, MutableRow>()

  /** Counts runs of one bucket, job and state; a bin is undefined if there is nothing to measure. */
  add(key: SeriesKey, runs: number, bins: { took?: number | undefined; late?: number | undefined }): void {
    const row = this.#row(key)
    row.runs += runs
    if (bins.took !== undefined) row.durations[bins.took] = (row.durations[bins.took] ?? 0) + runs
    if (bins.late !== undefined) row.lateness[bins.late] = (row.lateness[bins.late] ?? 0) + runs
  }

  /** Adds a whole row. */
  addRow(added: SeriesRow): void {
    const row = this.#row(added)
    row.runs += added.runs
    for (const [bin, count] of added.durations.entries())
      row.durations[bin] = (row.durations[bin] ?? 0) + count
    for (const [bin, count] of added.lateness.entries()) row.lateness[bin] = (row.lateness[bin] ?? 0) + count
  }

  /** The rows, by bucket, job and state. */
  rows(): SeriesRow[] {
    return [...this.#rows.entries()]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, row]) => row)
  }

  #row({ bucketAt, job, state }: SeriesKey): MutableRow {
    // Padded, so that instants sort as texts.
    const key = JSON.stringify([String(bucketAt).padStart(16, '0'), job ?? '', state])
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    const row = { bucketAt, job, state, runs: 0, durations: emptyHistogram(), lateness: emptyHistogram() }
    this.#rows.set(key, row)
    return row
  }
}

type SeriesKey = Pick<SeriesRow, 'bucketAt' | 'job' | 'state'>

interface MutableRow extends SeriesKey {
  runs: number
  readonly durations: number[]
  readonly lateness: number[]
}
