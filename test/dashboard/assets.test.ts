import { describe, expect, it } from 'vitest'
import { gridOf } from '../../dashboard/src/pages/assets/grid.js'
import { placesOf } from '../../dashboard/src/pages/assets/layers.js'
import {
  durationText,
  optionsOf,
  sentOptions,
  type EditFields,
} from '../../dashboard/src/pages/trigger/edit-form.js'

const node = (name: string, ...deps: string[]) => ({ name, deps: deps.map((asset) => ({ asset })) })
const partitions = (...labels: string[]) =>
  labels.map((partition) => ({ partition, state: 'missing', doneAt: null, run: null }) as const)

describe('the graph of assets', () => {
  it('puts each asset after its dependencies', () => {
    const places = placesOf([
      node('invoice', 'report', 'raw'),
      node('report', 'raw'),
      node('raw'),
      node('other'),
    ])
    expect(Object.fromEntries([...places].map(([name, { layer }]) => [name, layer]))).toEqual({
      raw: 0,
      other: 0,
      report: 1,
      invoice: 2,
    })
    const rows = [...places.values()].map(({ layer, row }) => `${layer} ${row}`)
    expect(new Set(rows).size).toBe(4)
  })

  it('ends if assets depend on each other or on unknown ones', () => {
    const places = placesOf([node('a', 'b', 'gone'), node('b', 'a')])
    expect([...places.keys()].toSorted()).toEqual(['a', 'b'])
  })
})

describe('the grid of partitions', () => {
  it('has a row for each month of days, the newest first', () => {
    const { rows, columns } = gridOf(partitions('2026-10-30', '2026-10-31', '2026-11-01'))
    expect(columns).toBe(31)
    expect(rows.map(({ key, cells }) => [key, cells.map(({ column }) => column)])).toEqual([
      ['2026-11', [1]],
      ['2026-10', [30, 31]],
    ])
  })

  it('has a row for each day of hours', () => {
    const { rows, columns } = gridOf(partitions('2026-11-17T00:00Z', '2026-11-17T13:00Z'))
    expect(columns).toBe(24)
    expect(rows[0]?.cells.map(({ column }) => column)).toEqual([1, 14])
  })

  it('fills rows with partitions that have no time in their name', () => {
    const { rows } = gridOf(partitions(...Array.from({ length: 30 }, (_, index) => `customer-${index}`)))
    expect(rows.map(({ cells }) => cells.length)).toEqual([24, 6])
  })
})

describe('an edit of a trigger', () => {
  const before: EditFields = {
    cron: '0 2 * * *',
    timezone: 'Europe/Berlin',
    dst: 'vixie',
    every: '',
    after: '',
    overlap: 'skip',
    catchUp: 'latest',
  }

  it('sends only what differs, and the whole schedule with a part of it', () => {
    expect(optionsOf(before, before)).toEqual({})
    expect(optionsOf(before, { ...before, overlap: 'allow' })).toEqual({ overlap: 'allow' })
    expect(optionsOf(before, { ...before, cron: ' 30 2 * * * ' })).toEqual({
      cron: '30 2 * * *',
      timezone: 'Europe/Berlin',
      dst: 'vixie',
    })
  })

  it('keeps the catch-up limits that the new mode has, and restores all of them', () => {
    const catchUp = { mode: 'all', maxRuns: 7, maxAgeMs: 3_600_000, graceMs: 60_000 }
    const trigger = { catchUp } as unknown as Parameters<typeof sentOptions>[1]
    const modes = ['skip', 'latest', 'all'] as const
    expect(modes.map((mode) => sentOptions({ catchUp: mode }, trigger))).toEqual([
      { catchUp: { mode: 'skip', grace: '1m' } },
      { catchUp: { mode: 'latest', grace: '1m', maxAge: '1h' } },
      { catchUp: { mode: 'all', grace: '1m', maxAge: '1h', maxRuns: 7 } },
    ])
    expect(sentOptions({ overlap: 'skip' }, trigger)).toEqual({ overlap: 'skip' })
    // A grid is what an interval is measured from where nothing else is said.
    expect(sentOptions({ every: '1h', after: 'grid' }, trigger)).toEqual({ every: '1h', after: null })
    expect(sentOptions({ every: '1h', after: 'finish' }, trigger)).toEqual({ every: '1h', after: 'finish' })
  })

  it.each([
    [1500, '1500ms'],
    [90_000, '90s'],
    [7_200_000, '2h'],
    [86_400_000, '1d'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })
})
