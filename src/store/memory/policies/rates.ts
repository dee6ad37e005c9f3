import {
  afterStarts,
  inTurns,
  nextStartAt,
  rateKey,
  rateStateOf,
  rateTurnOf,
  rateWindow,
  startsAt,
} from '../../../kernel/job/rate-limit.js'
import type { Instant } from '../../../time/instant.js'
import { stateEntryAt, writeStateEntry } from '../state.js'
import { byUrgency, type RunRow, type Tables } from '../tables.js'

/** The limits of the wanted jobs during one claim, by job. */
export type RateRooms = ReturnType<typeof rateRooms>

/** The limits of the wanted jobs that have one, with the runs that may start, in the order in which they do. */
export function rateRooms(tables: Tables, jobs: readonly string[], now: Instant) {
  const rooms = jobs.flatMap((job) => {
    const limit = tables.jobs.get(job)?.job.limit
    if (limit === undefined) return []
    const state = rateStateOf(stateEntryAt(tables, rateKey(job))?.value)
    const left = startsAt(limit, state, now)
    const rows = left === 0 ? [] : inTurns(readyOf(tables, job).slice(0, rateWindow), turnOf, state)
    return [{ job, limit, state, left, rows, keys: [] as string[] }]
  })
  return new Map(rooms.map((room) => [room.job, room]))
}

/** The run of a limited job that starts next, the most urgent of all such jobs. */
export function nextRated(rooms: RateRooms, mayClaim: (job: string) => boolean): RunRow | undefined {
  let best: RunRow | undefined
  for (const { job, left, rows } of rooms.values()) {
    const [row] = rows
    if (row === undefined || left === 0 || !mayClaim(job)) continue
    if (best === undefined || byUrgency(row, best) < 0) best = row
  }
  return best
}

/** Notes that a run starts. */
export function spend(rooms: RateRooms, row: RunRow): void {
  const room = rooms.get(row.job)
  if (room === undefined) return
  room.left--
  room.rows.shift()
  room.keys.push(turnOf(row))
}

/** Writes what has started; answers when the first limit lets another run start that keeps one waiting. */
export function settleRates(tables: Tables, rooms: RateRooms, now: Instant): Instant | undefined {
  let next: Instant | undefined
  for (const { job, limit, state, left, keys } of rooms.values()) {
    const after = keys.length === 0 ? state : afterStarts(limit, state, { now, keys })
    if (keys.length > 0) {
      const value = { freeAt: after.freeAt, keys: [...after.keys] }
      writeStateEntry(tables, { ...rateKey(job), value }, now)
    }
    if (left > 0 || readyOf(tables, job).length === 0) continue
    const at = nextStartAt(limit, after)
    next = Math.min(at, next ?? at)
  }
  return next
}

function readyOf({ readyPlain, readySlotted, readyCrashed }: Tables, job: string): RunRow[] {
  return [readyPlain, readySlotted, readyCrashed].flatMap((ready) => [...ready.of(job)]).toSorted(byUrgency)
}

function turnOf({ job, slots }: RunRow): string {
  return rateTurnOf(job, slots)
}
