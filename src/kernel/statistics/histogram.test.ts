import { describe, expect, it } from 'vitest'
import { binBounds, binOf, emptyHistogram, quantile, sizeOf, sumHistograms } from './histogram.js'

function histogramOf(values: readonly number[]): number[] {
  const histogram = emptyHistogram()
  for (const value of values) histogram[binOf(value)] = (histogram[binOf(value)] ?? 0) + 1
  return histogram
}

describe('a histogram', () => {
  it.each([
    [0, 0],
    [1, 0],
    [2, 1],
    [3, 2],
    [86_400_000, binBounds.length - 1],
    [86_400_001, binBounds.length],
    [Infinity, binBounds.length],
  ])('puts %d ms into bin %d', (ms, bin) => {
    expect(binOf(ms)).toBe(bin)
  })

  it('estimates a quantile inside its bin', () => {
    const histogram = histogramOf(Array.from({ length: 100 }, (_, i) => i * 10))
    expect(quantile(histogram, 0.5)).toBeGreaterThan(450)
    expect(quantile(histogram, 0.5)).toBeLessThanOrEqual(500)
    expect(quantile(histogram, 0.99)).toBeGreaterThan(900)
    expect(quantile(histogram, 1)).toBe(1000)
    expect(quantile(histogramOf([1e12]), 0.5)).toBe(binBounds.at(-1))
    expect(quantile(emptyHistogram(), 0.5)).toBeUndefined()
  })

  it('adds up', () => {
    const sum = sumHistograms([histogramOf([1, 7]), histogramOf([7]), emptyHistogram()])
    expect(sum).toEqual(histogramOf([1, 7, 7]))
    expect(sizeOf(sum)).toBe(3)
  })
})
