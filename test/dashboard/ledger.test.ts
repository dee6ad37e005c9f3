import { describe, expect, test } from 'vitest'
import type { LedgerEntry } from '../../src/client/operations.js'
import { markOf, sumOf } from '../../dashboard/src/pages/ledger/days.js'
import { exportText } from '../../dashboard/src/pages/ledger/export.js'
import { readFilter } from '../../dashboard/src/pages/ledger/filter.js'

const entry: LedgerEntry = {
  seq: 7,
  trigger: 'nightly',
  version: 1,
  firstAt: '2026-11-17T01:00:00.000Z',
  lastAt: '2026-11-17T01:00:00.000Z',
  reason: 'missed',
  rule: 'catch-up:skip',
  blocker: null,
  detail: null,
  recordedAt: '2026-11-17T01:31:00.000Z',
}

const covered = { due: 3, run: 3, explained: {}, unexplained: 0, unexpected: 0 }

describe('a day of the map', () => {
  test('shows unexplained due times first, then unwanted reasons, and nothing if nothing was due', () => {
    expect(markOf(covered)).toBe('done')
    expect(markOf({ ...covered, explained: { paused: 2, missed: 1 } })).toBe('missed')
    expect(markOf({ ...covered, explained: { missed: 1 }, unexplained: 1 })).toBe('unexplained')
    expect(markOf({ ...covered, due: 0, run: 0 })).toBeUndefined()
  })

  test('is part of the proof; a day that was not counted yet is reported as missing', () => {
    const days = [
      { date: '2026-11-16', coverage: { ...covered, due: 4, explained: { missed: 1 } } },
      { date: '2026-11-17', coverage: covered },
      { date: '2026-11-18', coverage: null },
    ]
    expect(sumOf(days)).toEqual({
      due: 7,
      run: 6,
      explained: { missed: 1 },
      unexplained: 0,
      unexpected: 0,
      uncounted: 1,
    })
  })
})

describe('the export', () => {
  test('has one line for each range, with a header in CSV and with JSON in NDJSON', () => {
    expect(exportText([entry], 'csv').split('\r\n')).toEqual([
      'seq,trigger,version,firstAt,lastAt,reason,rule,blocker,detail,recordedAt',
      '7,nightly,1,2026-11-17T01:00:00.000Z,2026-11-17T01:00:00.000Z,missed,catch-up:skip,,,2026-11-17T01:31:00.000Z',
      '',
    ])
    expect(
      exportText([entry, entry], 'ndjson')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([entry, entry])
  })

  test('keeps a text in its cell, and no spreadsheet treats it as a formula', () => {
    const cellOf = (detail: string): string =>
      exportText([{ ...entry, detail }], 'csv').split('catch-up:skip,,')[1] ?? ''
    expect(cellOf('ana: "db", upgrade\nnow')).toBe('"ana: ""db"", upgrade\nnow",2026-11-17T01:31:00.000Z\r\n')
    expect(cellOf('=HYPERLINK(1)')).toBe("'=HYPERLINK(1),2026-11-17T01:31:00.000Z\r\n")
  })
})

test('a filter of the ledger names a trigger and reasons, and reports unknown words', () => {
  expect(readFilter('trigger:nightly reason:missed reason:overlap reason:bad mail')).toEqual({
    trigger: 'nightly',
    reasons: ['missed', 'overlap'],
    unknown: ['reason:bad', 'mail'],
  })
})
