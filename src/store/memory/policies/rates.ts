import {
  nextStartAt,
  rateEntry,
  ratesOf,
  storedRate,
  type JobRates,
  type RateLimit,
} from '../../../kernel/job/rate-limit.js'
import {
  allRooms,
  isChanged,
  mayStart,
  openRoom,
  settledState,
  spend,
  turnGroups,
  waitUntil,
  type JobRooms,
  type RatedRun,
  type RateRoom,
} from '../../../kernel/job/rate-room.js'
import {
  concurrencyKeyOf,
  inTurns,
  mostOfOneKey,
  rateWindow,
  turnOf,
} from '../../../kernel/job/rate-turns.js'
import type { StateKey } from '../../../kernel/state/state-entry.js'
import type { Instant } from '../../../time/instant.js'
import { stateEntryAt, stateKeyText, writeStateEntry } from '../state.js'
import { byUrgency, getOrAdd, jobOf, type AskedJobs, type RunRow, type Tables } from '../tables.js'

/** The limits of the requested jobs during one claim, and the runs that may start. */
export interface RateRooms {
  readonly byJob: ReadonlyMap<string, JobRooms>
  /** The runs of jobs that take turns, in the order in which they start. */
  readonly windows: readonly RunRow[][]
  /** The keys whose limits make runs wait. */
  readonly waiting: ReadonlySet<RateRoom>
}

/** The requested jobs, and the limits of those that have one. */
export function askedJobs(tables: Tables, jobs: readonly string[]): AskedJobs {
  const known = tables.asked.get(jobs)
  if (known !== undefined) return known
  const rates = new Map<string, JobRates>()
  for (const job of jobs) {
    const definition = jobOf(tables, job)
    const limits = ratesOf(definition, tables.queues.get(definition.queue))
    if (limits !== undefined) rates.set(job, limits)
  }
  const asked = { names: new Set(jobs), rates }
  tables.asked.set(jobs, asked)
  return asked
}

/** The limits of jobs during a claim, and the runs of claimable jobs that may start. */
export function rateRooms(
  tables: Tables,
  {
    rates,
    mayClaim,
    now,
  }: { rates: ReadonlyMap<string, JobRates>; mayClaim: (job: string) => boolean; now: Instant },
): RateRooms {
  if (rates.size === 0) return noRooms
  const opened = new Map<string, RateRoom>()
  const open = (entry: StateKey, limit: RateLimit | undefined): RateRoom | undefined =>
    limit === undefined
      ? undefined
      : getOrAdd(opened, stateKeyText(entry), () =>
          openRoom({ entry, limit, value: stateEntryAt(tables, entry)?.value, now }),
        )
  const rooms = [...rates].map(([job, limits]): JobRooms => {
    const queue = open(rateEntry('queue', jobOf(tables, job).queue), limits.queue)
    return { job, limits, queue, own: open(rateEntry('job', job), limits.job), keys: new Map() }
  })
  const waiting = new Set<RateRoom>()
  const windows = turnGroups(rooms.filter(({ job }) => mayClaim(job))).map((group) => {
    const open = group.filter(({ queue, own }) => queue?.left !== 0 && own?.left !== 0)
    const rows = open.flatMap((job) => firstRows(tables, job, { waiting, now }))
    const all = rows.toSorted(byUrgency)
    const turns = (group[0]?.queue ?? group[0]?.own)?.state.turns
    return (turns === undefined ? all : inTurns(all, turnOfRow, turns)).slice(0, rateWindow)
  })
  return { byJob: new Map(rooms.map((room) => [room.job, room])), windows, waiting }
}

const noRooms: RateRooms = { byJob: new Map(), windows: [], waiting: new Set() }

/** The most urgent runs of a job whose keys allow a start, few of each key. */
function firstRows(
  tables: Tables,
  { job, limits, keys }: JobRooms,
  { waiting, now }: { waiting: Set<RateRoom>; now: Instant },
): RunRow[] {
  const rows: RunRow[] = []
  const places = new Map<string, number>()
  for (const row of readyOf(tables, job)) {
    if (rows.length === rateWindow) break
    const { key } = ratedRun(row)
    const { key: limit } = limits
    const entry = rateEntry('key', job, key)
    const room =
      key === undefined || limit === undefined
        ? undefined
        : getOrAdd(keys, key, () =>
            openRoom({ entry, limit, value: stateEntryAt(tables, entry)?.value, now }),
          )
    const place = places.get(key ?? '') ?? 0
    places.set(key ?? '', place + 1)
    if (room !== undefined && place >= room.left) waiting.add(room)
    else if (key === undefined || place < mostOfOneKey) rows.push(row)
  }
  return rows
}

/** The next run with a limit: the most urgent of those whose turn it is. */
export function nextRated(
  { byJob, windows }: RateRooms,
  mayClaim: (job: string) => boolean,
): RunRow | undefined {
  let best: RunRow | undefined
  for (const rows of windows) {
    const row = rows.find((one) => mayStart(byJob, ratedRun(one)))
    if (row === undefined || !mayClaim(row.job)) continue
    if (best === undefined || byUrgency(row, best) < 0) best = row
  }
  return best
}

/** Counts a start of a run. */
export function noteStart({ byJob, windows }: RateRooms, row: RunRow): void {
  if (byJob.size === 0) return
  spend(byJob, ratedRun(row))
  for (const rows of windows) if (rows.includes(row)) rows.splice(rows.indexOf(row), 1)
}

/** Stores the counted starts; returns when the first run that waits for a limit may start. */
export function settleRates(
  tables: Tables,
  { byJob, waiting }: RateRooms,
  now: Instant,
): Instant | undefined {
  let next = Infinity
  for (const room of allRooms(byJob.values())) {
    const after = settledState(room, now)
    if (isChanged(room)) writeStateEntry(tables, { ...room.entry, value: storedRate(after) }, now)
    if (waiting.has(room) && room.left === 0) next = Math.min(next, nextStartAt(room.limit, after))
  }
  for (const job of byJob.values()) {
    const until = waitUntil(job, now)
    if (until !== undefined && isAnyReady(tables, job.job)) next = Math.min(next, until)
  }
  return next === Infinity ? undefined : next
}

function isAnyReady({ readyPlain, readySlotted, readyCrashed }: Tables, job: string): boolean {
  return [readyPlain, readySlotted, readyCrashed].some((ready) => ready.countOf(job) > 0)
}

function readyOf({ readyPlain, readySlotted, readyCrashed }: Tables, job: string): RunRow[] {
  return [readyPlain, readySlotted, readyCrashed].flatMap((ready) => [...ready.of(job)]).toSorted(byUrgency)
}

function ratedRun({ job, slots }: RunRow): RatedRun {
  return { job, key: concurrencyKeyOf(job, slots) }
}

function turnOfRow(row: RunRow): string {
  const { job, key } = ratedRun(row)
  return turnOf(job, key)
}
