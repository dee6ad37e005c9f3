import { describe, expect, expectTypeOf, it } from 'vitest'
import { dated, type Dated } from './dated.js'

const at = Date.UTC(2026, 0, 5)
const date = new Date(at)

describe('dated', () => {
  it('turns the instants of a record into Dates, however deep', () => {
    const record = { at, dueAt: at, leaseUntil: at, runs: [{ startedAt: at, nested: { lastAt: at } }] }
    expect(dated(record)).toEqual({
      at: date,
      dueAt: date,
      leaseUntil: date,
      runs: [{ startedAt: date, nested: { lastAt: date } }],
    })
    expect(record.dueAt).toBe(at)
  })

  it('turns the lists of instants of a coverage into Dates', () => {
    expect(dated({ unexplained: [at], unexpected: [], unexplainedCount: 1 })).toEqual({
      unexplained: [date],
      unexpected: [],
      unexplainedCount: 1,
    })
  })

  it.each([
    'payload',
    'result',
    'params',
    'labels',
    'metadata',
    'body',
    'details',
    'state',
    'before',
    'after',
  ])('leaves what users put into %s as it is', (key) => {
    const value = { [key]: { sentAt: at } }
    expect(dated(value)).toBe(value)
  })

  it('leaves other numbers, missing instants and objects of a class as they are', () => {
    class Thing {
      readonly endAt = at
    }
    const value = { attempt: at, intervalMs: at, nextAt: undefined, doneAt: null, thing: new Thing(), date }
    expect(dated(value)).toBe(value)
  })

  it('has the same rule in its type', () => {
    interface Inside {
      readonly at: number
      readonly doneAt?: number | null
      readonly attempt: number
      readonly payload: { readonly sentAt: number }
      readonly ranges: readonly { readonly firstAt: number }[]
      readonly unexpected: readonly number[]
    }
    expectTypeOf<Dated<Inside>>().toEqualTypeOf<{
      readonly at: Date
      readonly doneAt?: Date | null
      readonly attempt: number
      readonly payload: { readonly sentAt: number }
      readonly ranges: readonly { readonly firstAt: Date }[]
      readonly unexpected: readonly Date[]
    }>()
  })
})
