import type { Instant } from '../time/instant.js'
import { zoneOf } from '../time/zone.js'

/** How long the slice of data is that an occurrence is about. */
export type PartitionGrain = 'hour' | 'day' | 'previous-day' | 'week' | 'month'

/** The grains a definition may name. */
export const partitionGrains: readonly PartitionGrain[] = ['hour', 'day', 'previous-day', 'week', 'month']

/** The label of the slice that a due instant falls into, in the zone of its trigger: never from a worker's clock. */
export function partitionOf(grain: PartitionGrain, dueAt: Instant, timezone: string): string {
  const zone = zoneOf(timezone)
  const local = zone.toLocal(dueAt)
  switch (grain) {
    case 'hour':
      return `${dayOf(local)}T${two(new Date(local).getUTCHours())}:00${offsetText(zone.offsetAt(dueAt))}`
    case 'day':
      return dayOf(local)
    case 'previous-day':
      return dayOf(local - dayMs)
    case 'week':
      return weekOf(local)
    case 'month':
      return dayOf(local).slice(0, 7)
  }
}

const dayMs = 86_400_000

function dayOf(local: number): string {
  return new Date(local).toISOString().slice(0, 10)
}

/** ISO week: the week of its Thursday, `2026-W01`. */
function weekOf(local: number): string {
  const weekday = (new Date(local).getUTCDay() + 6) % 7
  const thursday = new Date(local + (3 - weekday) * dayMs)
  const firstOfYear = Date.UTC(thursday.getUTCFullYear(), 0, 1)
  const week = 1 + Math.floor((thursday.getTime() - firstOfYear) / (7 * dayMs))
  return `${thursday.getUTCFullYear()}-W${two(week)}`
}

function offsetText(offsetMs: number): string {
  if (offsetMs === 0) return 'Z'
  const minutes = Math.abs(Math.trunc(offsetMs / 60_000))
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
