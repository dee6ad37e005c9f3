import { describe, expect, test } from 'vitest'
import type { LedgerEntry } from '../../src/client/operations.js'
import { markOf, newestDates, yearsOf } from '../../dashboard/src/pages/ledger/days.js'
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

describe('the dates of the map', () => {
  test('end with today in the zone, not with today in UTC', () => {
    const nowMs = Date.parse('2026-11-17T23:30:00Z')
    expect(newestDates(2, nowMs, 'Europe/Berlin')).toEqual(['2026-11-17', '2026-11-18'])
    expect(newestDates(2, nowMs, 'America/New_York')).toEqual(['2026-11-16', '2026-11-17'])
  })

  test('are 30 different ones over a change of the clocks and of the year', () => {
    const dates = newestDates(30, Date.parse('2027-01-05T12:00:00Z'), 'Europe/Berlin')
    expect([new Set(dates).size, dates[0], yearsOf(dates)]).toEqual([30, '2026-12-07', [2026, 2027]])
  })

  test('show what nobody chose before what somebody chose, and nothing where nothing was due', () => {
    const day = { date: '', fromAt: '', runs: 3, failed: 1, ranges: {} }
    expect(markOf(day)).toBe('done')
    expect(markOf({ ...day, ranges: { paused: 2, missed: 1 } })).toBe('missed')
    expect(markOf({ ...day, runs: 0 })).toBeUndefined()
  })
})

describe('the export', () => {
  test('has one line for each range, with a head in CSV and with JSON in NDJSON', () => {
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

  test('keeps a text of somebody in its cell, and no spreadsheet takes it for a formula', () => {
    const cellOf = (detail: string): string =>
      exportText([{ ...entry, detail }], 'csv').split('catch-up:skip,,')[1] ?? ''
    expect(cellOf('ana: "db", upgrade\nnow')).toBe('"ana: ""db"", upgrade\nnow",2026-11-17T01:31:00.000Z\r\n')
    expect(cellOf('=HYPERLINK(1)')).toBe("'=HYPERLINK(1),2026-11-17T01:31:00.000Z\r\n")
  })
})

test('a filter of the ledger names a trigger and reasons, and says what it does not understand', () => {
  expect(readFilter('trigger:nightly reason:missed reason:overlap reason:bad mail')).toEqual({
    trigger: 'nightly',
    reasons: ['missed', 'overlap'],
    unknown: ['reason:bad', 'mail'],
  })
})
