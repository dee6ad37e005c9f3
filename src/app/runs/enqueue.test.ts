import { describe, expect, it } from 'vitest'
import type { RotaError } from '../../kernel/definition/errors.js'
import { readEnqueueOptions, type EnqueueOptions } from './enqueue.js'

const now = Date.UTC(2026, 0, 5)
const debounce = { key: 'k', wait: '1m' }
const throttle = { key: 'k', per: '1m' }
const tx = { query: () => Promise.resolve({ rows: [] }) } as never

function faultsOf(options: EnqueueOptions): readonly string[] {
  try {
    readEnqueueOptions(options, now)
    return []
  } catch (error) {
    return (error as RotaError).faults.map(({ path, message }) => `${path}: ${message}`)
  }
}

describe('options of an enqueue that contradict each other are refused with both places', () => {
  it.each<[EnqueueOptions, string[]]>([
    [{ debounce, throttle }, ['throttle: it contradicts `debounce`']],
    [{ debounce, at: new Date(now) }, ['at: it contradicts `debounce`']],
    [{ debounce, delay: '1s' }, ['delay: it contradicts `debounce`']],
    [{ debounce, uniqueKey: 'u' }, ['uniqueKey: it contradicts `debounce`']],
    [
      { debounce, uniqueKey: 'u', uniqueFor: '1h' },
      ['uniqueKey: it contradicts `debounce`', 'uniqueFor: it contradicts `debounce`'],
    ],
    [{ debounce, tx }, ['tx: it contradicts `debounce`']],
    [{ debounce: { ...debounce, max: '30s' } }, ['debounce.max: 30s contradicts `debounce.wait` (1m)']],
    [{ throttle, uniqueKey: 'u' }, ['uniqueKey: it contradicts `throttle`']],
    [{ throttle, tx }, ['tx: it contradicts `throttle`']],
    [{ at: new Date(now), delay: '1s' }, ['delay: it contradicts `at`']],
    [{ uniqueFor: '1h' }, ['uniqueFor: it has no effect without `uniqueKey`']],
    [{ uniqueKey: 'debounce:k' }, ['uniqueKey: keys that begin with debounce: or throttle:']],
  ])('%j', (options, expected) => {
    const told = faultsOf(options)
    expect(told).toHaveLength(expected.length)
    for (const [index, text] of expected.entries()) expect(told[index]).toContain(text)
  })

  it.each<[EnqueueOptions]>([
    [{ throttle, at: new Date(now) }],
    [{ throttle, delay: '1s', priority: 2, concurrencyKey: 'c', partition: 'p' }],
    [{ debounce: { ...debounce, max: '1m' }, priority: 2, concurrencyKey: 'c', partition: 'p' }],
    [{ uniqueKey: 'u', uniqueFor: '1h', delay: '1s', concurrencyKey: 'c', tx }],
    [{ at: new Date(now), uniqueKey: 'u' }],
  ])('%j is accepted', (options) => {
    expect(faultsOf(options)).toEqual([])
  })
})
