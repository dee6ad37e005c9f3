import { emptyHistogram, type Histogram } from '../../kernel/statistics/histogram.js'
import type { FinalState } from '../../kernel/run/run.js'
import type { SeriesRow } from '../../store/series.js'
import { DAY_MS, HOUR_MS } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'

/** The hours of a day in an entry: by hour and state, the number of runs and the bins that are not empty. */
export type Hours = Readonly<Record<string, Readonly<Partial<Record<FinalState, RolledState>>>>>

type RolledState = readonly [runs: number, durations: Bins, lateness: Bins]
type Bins = Readonly<Record<string, number>>

/** Encodes the rows of some hours, over all their jobs. */
export function writeHours(rows: readonly SeriesRow[]): Hours {
  const hours: Record<string, Partial<Record<FinalState, RolledState>>> = {}
  for (const { bucketAt, state, runs, durations, lateness } of rows) {
    const hour = (hours[Math.floor((bucketAt % DAY_MS) / HOUR_MS)] ??= {})
    const [known, took, late] = hour[state] ?? [0, {}, {}]
    hour[state] = [known + runs, withBins(took, durations), withBins(late, lateness)]
  }
  return hours
}

/** Decodes the rows of a day. */
export function readHours(dayAt: Instant, job: string | undefined, hours: Hours): SeriesRow[] {
  return Object.entries(hours).flatMap(([hour, states]) =>
    Object.entries(states).map(([state, [runs, durations, lateness]]) => ({
      bucketAt: dayAt + Number(hour) * HOUR_MS,
      job,
      state: state as FinalState,
      runs,
      durations: histogramOf(durations),
      lateness: histogramOf(lateness),
    })),
  )
}

function withBins(bins: Bins, histogram: Histogram): Bins {
  const sum: Record<string, number> = { ...bins }
  for (const [bin, count] of histogram.entries()) if (count > 0) sum[bin] = (sum[bin] ?? 0) + count
  return sum
}

function histogramOf(bins: Bins): Histogram {
  const histogram = emptyHistogram()
  for (const [bin, count] of Object.entries(bins)) histogram[Number(bin)] = count
  return histogram
}
