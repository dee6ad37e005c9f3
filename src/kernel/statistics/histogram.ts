/** How many values fell into each bin; the bins are those of `binBounds`. */
export type Histogram = readonly number[]

/** The upper bounds of the bins in ms; one more bin has all longer values. Stored histograms need them unchanged. */
export const binBounds: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
]

/** A histogram without values. */
export function emptyHistogram(): number[] {
  return Array.from({ length: binBounds.length + 1 }, () => 0)
}

/** The bin of a duration. */
export function binOf(ms: number): number {
  const bin = binBounds.findIndex((bound) => ms <= bound)
  return bin === -1 ? binBounds.length : bin
}

/** The sum of histograms. */
export function sumHistograms(all: Iterable<Histogram>): number[] {
  const sum = emptyHistogram()
  for (const one of all) for (const [bin, count] of one.entries()) sum[bin] = (sum[bin] ?? 0) + count
  return sum
}

/** The number of values in a histogram. */
export function sizeOf(histogram: Histogram): number {
  return histogram.reduce((sum, count) => sum + count, 0)
}

/** The value below which a share of all values lies, estimated inside its bin; undefined for an empty histogram. */
export function quantile(histogram: Histogram, share: number): number | undefined {
  const size = sizeOf(histogram)
  if (size === 0) return undefined
  let rest = share * size
  for (const [bin, count] of histogram.entries()) {
    if (rest <= count && count > 0) return valueIn(bin, rest / count)
    rest -= count
  }
  return binBounds.at(-1)
}

/** The value at a place in a bin, from 0 (its start) to 1 (its end). Of the last bin only the start is known. */
function valueIn(bin: number, place: number): number {
  const from = binBounds[bin - 1] ?? 0
  const until = binBounds[bin] ?? from
  return Math.round(from + (until - from) * place)
}
