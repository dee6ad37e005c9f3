/** How long upkeep keeps data other than runs before it removes them. */
import { DAY_MS } from '../../time/civil.js'

/** Audit entries: how long, and how many at most. */
export const auditKept = { ms: 400 * DAY_MS, most: 100_000 } as const

/** Roll-ups, and the coverage of days. */
export const daysKeptMs = 400 * DAY_MS

/** The keys of requests, and their answers. */
export const requestsKeptMs = DAY_MS
