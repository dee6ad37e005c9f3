import { describe, expect, it } from 'vitest'
import { readFilter } from '../../dashboard/src/pages/triggers/filter.js'
import { dayMark, daysBefore, dayText } from '../../dashboard/src/pages/trigger/year-cells.js'

describe('the filter of the list of triggers', () => {
  it.each([
    ['', {}, undefined],
    ['mail', { search: 'mail' }, undefined],
    ['name:~mail state:paused', { search: 'mail', state: 'paused' }, undefined],
    ['asset:daily job:report', { search: 'asset:daily', job: 'report' }, undefined],
    ['source:config:demo order:next', { source: 'config:demo', order: 'next' }, undefined],
    ['next:<90m', { order: 'next' }, 90 * 60_000],
  ])('%j asks for %j', (text, query, withinMs) => {
    expect(readFilter(text)).toEqual({ query, withinMs, error: undefined })
  })

  it.each([
    ['state:broken', 'active, paused, ended, any'],
    ['next:soon', '<1h'],
    ['order:age', 'name, next'],
    ['two words', 'two words'],
  ])('%j says what is wrong', (text, named) => {
    expect(readFilter(text).error).toContain(named)
  })
})

describe('a day of the year of a trigger', () => {
  const day = {
    date: '2026-11-17',
    fromAt: '2026-11-17T00:00:00Z',
    pending: 0,
    running: 0,
    done: 0,
    failed: 0,
    cancelled: 0,
    ranges: {},
    due: 0,
  }

  it.each([
    [{}, undefined],
    [{ due: 1 }, 'due'],
    [{ done: 3, due: 1 }, 'done'],
    [{ done: 3, ranges: { paused: 1 } }, 'paused'],
    [{ done: 3, ranges: { paused: 1, missed: 1 } }, 'missed'],
    [{ done: 3, failed: 1, ranges: { missed: 1 } }, 'failed'],
    [{ done: 3, ranges: { checked: 9 } }, 'done'],
  ])('with %j shows %s', (changes, mark) => {
    expect(dayMark({ ...day, ...changes })).toBe(mark)
  })

  it('shows its numbers', () => {
    expect(dayText({ ...day, done: 2, ranges: { missed: 1 } })).toBe('17 Nov 2026: 2 done, missed (1 range)')
    expect(dayText(day)).toBe('17 Nov 2026: nothing due')
  })

  it('is in the row of its weekday, Monday first', () => {
    expect(['2026-01-01', '2024-01-01', '2023-01-01'].map(daysBefore)).toEqual([3, 0, 6])
  })
})
