import { expect, it } from 'vitest'
import { partitionGrains, partitionOf } from './partition.js'

const berlin = 'Europe/Berlin'
const rows = [
  { grain: 'day', at: '2026-01-05T00:00:00Z', zone: 'UTC', label: '2026-01-05' },
  { grain: 'day', at: '2026-01-04T23:30:00Z', zone: berlin, label: '2026-01-05' },
  { grain: 'day', at: '2026-01-05T04:59:59Z', zone: 'America/New_York', label: '2026-01-04' },
  { grain: 'day', at: '2024-02-29T12:00:00Z', zone: 'UTC', label: '2024-02-29' },
  { grain: 'previous-day', at: '2026-01-01T02:00:00Z', zone: 'UTC', label: '2025-12-31' },
  { grain: 'previous-day', at: '2024-03-01T02:00:00Z', zone: 'UTC', label: '2024-02-29' },
  // The spring day has 23 hours and the autumn day 25: `previous-day` is still the day before.
  { grain: 'previous-day', at: '2026-03-29T22:30:00Z', zone: berlin, label: '2026-03-29' },
  { grain: 'previous-day', at: '2026-10-25T22:59:00Z', zone: berlin, label: '2026-10-24' },
  { grain: 'previous-day', at: '2026-10-25T23:00:00Z', zone: berlin, label: '2026-10-25' },
  { grain: 'hour', at: '2026-01-05T10:59:59Z', zone: 'UTC', label: '2026-01-05T10:00Z' },
  { grain: 'hour', at: '2026-01-05T10:00:00Z', zone: 'Asia/Kolkata', label: '2026-01-05T15:00+05:30' },
  { grain: 'hour', at: '2026-01-05T10:00:00Z', zone: 'America/New_York', label: '2026-01-05T05:00-05:00' },
  // The hour that occurs twice in autumn has two labels.
  { grain: 'hour', at: '2026-10-25T00:30:00Z', zone: berlin, label: '2026-10-25T02:00+02:00' },
  { grain: 'hour', at: '2026-10-25T01:30:00Z', zone: berlin, label: '2026-10-25T02:00+01:00' },
  { grain: 'week', at: '2026-01-05T00:00:00Z', zone: 'UTC', label: '2026-W02' },
  { grain: 'week', at: '2026-01-04T23:59:59Z', zone: 'UTC', label: '2026-W01' },
  // The days around New Year belong to the week of their Thursday.
  { grain: 'week', at: '2024-12-30T00:00:00Z', zone: 'UTC', label: '2025-W01' },
  { grain: 'week', at: '2027-01-03T00:00:00Z', zone: 'UTC', label: '2026-W53' },
  { grain: 'week', at: '2021-01-01T00:00:00Z', zone: 'UTC', label: '2020-W53' },
  { grain: 'month', at: '2026-01-31T23:30:00Z', zone: berlin, label: '2026-02' },
  { grain: 'month', at: '2026-02-28T23:30:00Z', zone: 'UTC', label: '2026-02' },
] as const

it.each(rows)('the $grain of $at in $zone is $label', ({ grain, at, zone, label }) => {
  expect(partitionOf(grain, Date.parse(at), zone)).toBe(label)
})

it('every grain that a definition may name has a label', () => {
  for (const grain of partitionGrains) expect(partitionOf(grain, 0, 'UTC')).not.toBe('')
})
