import { describe, expect, it } from 'vitest'
import type { RotaError } from '../kernel/definition/errors.js'
import { readEnqueueOptions } from './runs/enqueue.js'
import { rota } from './rota.js'
import type { RotaOptions } from './rota-options.js'

function faultsOf(act: () => unknown): string[] {
  try {
    act()
  } catch (error) {
    const { code, faults } = error as RotaError
    expect(code).toBe('DEFINITION_INVALID')
    return faults.map((fault) => fault.path)
  }
  return []
}

describe('the options of an app', () => {
  it('are all optional', () => {
    expect(faultsOf(() => rota())).toEqual([])
  })

  it('are refused with all their faults together', () => {
    const wrong = {
      store: 7,
      app: '',
      concurrency: 0,
      lease: '10ms',
      retention: '1s',
      durability: 'most',
      create: 'yes',
      queues: { narrow: { concurrency: -1 }, 'no name!': {} },
      directory: '',
      clock: {},
      leese: '30s',
    } as unknown as RotaOptions
    expect(faultsOf(() => rota(wrong)).toSorted()).toEqual(
      [
        'app',
        'clock',
        'concurrency',
        'create',
        'directory',
        'durability',
        'retention',
        'lease',
        'leese',
        'queues.narrow.concurrency',
        'queues.no name!',
        'store',
      ].toSorted(),
    )
  })

  it('a lease that is too short is refused, not lengthened', () => {
    expect(() => rota({ lease: 999 })).toThrow(/lease: 999 is too short \(allowed: from 1s to 1h\)/)
    expect(faultsOf(() => rota({ lease: 1000 }))).toEqual([])
  })
})

describe('the options of an enqueue', () => {
  const now = Date.UTC(2026, 0, 5)
  const read = (options: object) => readEnqueueOptions(options, now)

  it('are refused with all their faults together', () => {
    const wrong = { priority: 1.5, uniqueKey: 7, concurrencyKey: '', uniqueFor: 'long', at: 'soon', prio: 1 }
    expect(faultsOf(() => read(wrong)).toSorted()).toEqual([
      'at',
      'concurrencyKey',
      'prio',
      'priority',
      'uniqueFor',
      'uniqueKey',
    ])
  })

  it.each<[string, object, string]>([
    ['at and delay together', { at: new Date(now), delay: '1s' }, 'delay'],
    ['uniqueFor without a key', { uniqueFor: '1h' }, 'uniqueFor'],
    ['an invalid Date', { at: new Date(NaN) }, 'at'],
    ['an instant before 1970', { at: new Date(-1) }, 'at'],
    ['an instant after 9999', { at: new Date(8.64e15) }, 'at'],
    ['a key that is too long', { uniqueKey: 'x'.repeat(513) }, 'uniqueKey'],
    ['a priority that is a text', { priority: '5' }, 'priority'],
  ])('%s is refused', (_, options, path) => {
    expect(faultsOf(() => read(options))).toEqual([path])
  })

  it('an instant in the past is due immediately, with its own due instant', () => {
    expect(read({ at: new Date(now - 5000) }).dueAt).toBe(now - 5000)
    expect(read({ at: '2026-01-04T23:59:00Z' }).dueAt).toBe(now - 60_000)
    expect(read({ delay: '1h' }).dueAt).toBe(now + 3_600_000)
    expect(read({}).dueAt).toBe(now)
  })
})
