/*
 * Rate limits during a claim. The state of a limit is one entry, and a transaction that reads it holds its lock until it
 * ends: so the limit is exact over all workers. Runs wait in the index of ready runs. If the limit of a queue or job
 * allows no start, the claim does not read its runs; if the limit of a key allows none, its runs are parked.
 */
import { nextStartAt, rateEntry, storedRate, type JobRates } from '../../../kernel/job/rate-limit.js'
import {
  allRooms,
  isChanged,
  openRoom,
  settledState,
  waitUntil,
  type JobRooms,
  type RatedRun,
  type RateRoom,
} from '../../../kernel/job/rate-room.js'
import { concurrencyKeyOf } from '../../../kernel/job/rate-turns.js'
import type { Instant } from '../../../time/instant.js'
import { jobOf, type Catalog } from '../catalog.js'
import { slotsOf } from '../rows/run-rows.js'
import { ready } from '../rows/states.js'
import type { Candidate } from '../runs/native-verbs.js'
import type { Session } from '../session.js'
import { stateEntries, stateValue, writeStateEntry } from '../state.js'
import { each } from '../statement.js'
import type { Verb } from '../verb.js'
import { firstParkedAt, park } from './parked.js'

// Relies on: runs_ready, once for each job.
const WITH_READY = each({
  sqlite: `select value as job from json_each($1) where exists (
      select 1 from runs where state = ${ready} and runs.job = json_each.value
    )`,
  postgres: `select given.job from unnest($1::text[]) given (job) where exists (
      select 1 from rota.runs where state = ${ready} and runs.job = given.job
    )`,
})

/** The limits of a job during a claim. */
export interface ClaimRooms extends JobRooms {
  /** Runs that were read and are too many for their keys. */
  readonly spare: Candidate[]
  /** Whether its runs were read. */
  isRead: boolean
}

/** The limits of the requested jobs that have one. */
export function* rateRooms(
  session: Session,
  { catalog, jobs, now }: { catalog: Catalog; jobs: readonly string[]; now: Instant },
): Verb<Map<string, ClaimRooms>> {
  const rooms = new Map<string, ClaimRooms>()
  if (catalog.rates.size === 0) return rooms
  const rated = jobs.filter((job) => catalog.rates.has(job))
  if (rated.length === 0) return rooms
  yield* session.native.lockSlots(locksOf(catalog, rated))
  const opened = new Map<string, RateRoom>()
  const open = function* (
    of: 'queue' | 'job',
    name: string,
    limit: JobRates['job'],
  ): Verb<RateRoom | undefined> {
    if (limit === undefined) return undefined
    const entry = rateEntry(of, name)
    const room =
      opened.get(entry.name) ?? openRoom({ entry, limit, value: yield* stateValue(session, entry), now })
    opened.set(entry.name, room)
    return room
  }
  for (const job of rated) {
    const limits = catalog.rates.get(job) as JobRates
    const queue = yield* open('queue', jobOf(catalog, job).queue, limits.queue)
    const own = yield* open('job', job, limits.job)
    rooms.set(job, { job, limits, queue, own, keys: new Map(), spare: [], isRead: false })
  }
  return rooms
}

/** Reads the limits of the keys that these runs have. */
export function* readKeyRooms(
  session: Session,
  { job, limits: { key: limit }, keys }: JobRooms,
  { rows, now }: { rows: readonly Candidate[]; now: Instant },
): Verb<void> {
  if (limit === undefined) return
  const items = [...new Set(rows.flatMap((row) => ratedRun(row).key ?? []))].filter((key) => !keys.has(key))
  if (items.length === 0) return
  const { kind, name } = rateEntry('key', job)
  const entries = yield* stateEntries(session, { kind, names: [name], items, limit: items.length })
  const values = new Map(entries.map(({ item, value }) => [item, value]))
  for (const key of items)
    keys.set(key, openRoom({ entry: rateEntry('key', job, key), limit, value: values.get(key), now }))
}

/** A candidate in the form that limits use. */
export function ratedRun({ job, gates }: Candidate): RatedRun {
  return { job, key: gates === null ? undefined : concurrencyKeyOf(job, slotsOf(gates)) }
}

/** Stores the counted starts; returns when the first run that waits for a limit may start. */
export function* settleRates(
  session: Session,
  rooms: ReadonlyMap<string, ClaimRooms>,
  now: Instant,
): Verb<Instant | undefined> {
  const all = [...allRooms(rooms.values())]
  const writes = all
    .filter(isChanged)
    .map((room) =>
      writeStateEntry(session, { ...room.entry, value: storedRate(settledState(room, now)) }, now),
    )
  if (writes.length > 0) yield* session.sql.together(...writes)
  const parkedAt = yield* settleKeys(session, rooms.values(), now)
  const untilByJob = untilOf(rooms.values(), now)
  const waiting = yield* withReady(session, [...untilByJob.keys()])
  const nextAt = Math.min(parkedAt, ...waiting.map((job) => untilByJob.get(job) ?? Infinity))
  // If some have started, others are likely to follow.
  const isUnderWay = all.some(({ started }) => started.length > 0)
  session.native.noteRates({ at: now, nextAt: isUnderWay ? now : nextAt, untilByJob })
  return nextAt === Infinity ? undefined : nextAt
}

/** Parks the runs that were read and may not start; returns when the first parked run of these jobs may start. */
function* settleKeys(session: Session, rooms: Iterable<ClaimRooms>, now: Instant): Verb<Instant> {
  let next = Infinity
  for (const job of rooms) {
    if (job.limits.key === undefined || !job.isRead) continue
    yield* parkSpare(session, job, now)
    next = Math.min(next, (yield* firstParkedAt(session, job.job)) ?? Infinity)
  }
  return next
}

/** Until when the limits of jobs allow no start; only jobs whose limits do not. */
function untilOf(rooms: Iterable<ClaimRooms>, now: Instant): Map<string, Instant> {
  const found = new Map<string, Instant>()
  for (const job of rooms) {
    const until = waitUntil(job, now)
    if (until !== undefined) found.set(job.job, until)
  }
  return found
}

function* withReady(session: Session, jobs: readonly string[]): Verb<string[]> {
  if (jobs.length === 0) return []
  return (yield* session.sql.all<{ job: string }>(WITH_READY, jobs)).map(({ job }) => job)
}

/** Parks the runs that were read and may not start, because others of their key have started. */
function* parkSpare(session: Session, { job, spare, keys }: ClaimRooms, now: Instant): Verb<void> {
  const runs = spare.flatMap((row) => {
    const room = keys.get(ratedRun(row).key ?? '')
    if (room === undefined || room.left > 0) return []
    return [{ seq: row.seq, until: nextStartAt(room.limit, settledState(room, now)) }]
  })
  yield* park(session, job, runs)
}

/** The locks besides the rows of runs: each queue and job with a limit. */
function locksOf(catalog: Catalog, jobs: readonly string[]): string[] {
  const names = jobs.flatMap((job) => {
    const isShared = catalog.rates.get(job)?.queue !== undefined
    return isShared ? [`queue:${jobOf(catalog, job).queue}`, `job:${job}`] : [`job:${job}`]
  })
  return [...new Set(names)].map((name) => `rate:${name}`)
}
