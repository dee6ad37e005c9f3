import { nextStartAt, spacingOf } from '../../../kernel/job/rate-limit.js'
import { turnGroups } from '../../../kernel/job/rate-room.js'
import { inTurns, mostOfOneKey, rateWindow, turnOf } from '../../../kernel/job/rate-turns.js'
import type { Instant } from '../../../time/instant.js'
import { byUrgency, type Candidate } from '../runs/native-verbs.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { park, wake } from './parked.js'
import { ratedRun, readKeyRooms, type ClaimRooms } from './rate-limits.js'

/** How many pages a claim reads at most if it parks the runs it read, or if one key has many runs. */
const maxPages = 16

/** Runs of limited jobs that may start, in their order. */
export interface RateWindow {
  /** One of the jobs, which all have the same queue. */
  readonly job: string
  readonly rows: readonly Candidate[]
  /** Whether there may be more runs than were read. */
  readonly isCutOff: boolean
}

/** The runs of limited jobs that may start; jobs of one limited queue take turns. */
export function* rateWindows(
  session: Session,
  { jobs, now }: { jobs: readonly ClaimRooms[]; now: Instant },
): Verb<RateWindow[]> {
  const windows: RateWindow[] = []
  for (const group of turnGroups(jobs)) {
    const found: RateWindow[] = []
    for (const job of group)
      if (job.queue?.left !== 0 && job.own?.left !== 0) found.push(yield* windowOf(session, job, now))
    const [{ job } = {}] = found
    if (job === undefined) continue
    const all = found.flatMap(({ rows }) => rows).toSorted(byUrgency)
    const turns = (group[0]?.queue ?? group[0]?.own)?.state.turns
    // Sorted in turns before the cut: otherwise a job with a backlog would fill all places.
    const rows = (turns === undefined ? all : inTurns(all, turnOfRow, turns)).slice(0, rateWindow)
    windows.push({ job, rows, isCutOff: rows.length < all.length || found.some(({ isCutOff }) => isCutOff) })
  }
  return windows
}

function turnOfRow(row: Candidate): string {
  const { job, key } = ratedRun(row)
  return turnOf(job, key)
}

/** The most urgent runs of a job whose keys allow a start, few of each key. */
function* windowOf(session: Session, job: ClaimRooms, now: Instant): Verb<RateWindow> {
  const { limits, spare, job: name } = job
  job.isRead = true
  if (limits.key !== undefined)
    yield* wake(session, { job: name, now, longestMs: Math.ceil(spacingOf(limits.key)) })
  const rows: Candidate[] = []
  const places = new Map<string, number>()
  let isCutOff = false
  let offset = 0
  for (let page = 0; page < maxPages && rows.length < rateWindow; page++) {
    const found = yield* session.native.candidates([name], { limit: rateWindow, offset })
    yield* readKeyRooms(session, job, { rows: found, now })
    offset += found.length - (yield* parkEarly(session, job, found))
    for (const row of found) {
      const { key } = ratedRun(row)
      const left = leftOf(job, key)
      const place = places.get(key ?? '') ?? 0
      if (left > 0) places.set(key ?? '', place + 1)
      if (left > 0 && place >= left) spare.push(row)
      else if (left > 0 && (key === undefined || place < mostOfOneKey)) rows.push(row)
      else isCutOff ||= left > 0
    }
    if (found.length < rateWindow) return { job: name, rows, isCutOff }
  }
  return { job: name, rows, isCutOff: true }
}

/** Parks the runs whose keys allow no start; returns how many. */
function* parkEarly(session: Session, job: ClaimRooms, rows: readonly Candidate[]): Verb<number> {
  const early = rows.flatMap((row) => {
    const room = job.keys.get(ratedRun(row).key ?? '')
    if (room === undefined || room.left > 0) return []
    return [{ seq: row.seq, until: nextStartAt(room.limit, room.state) }]
  })
  yield* park(session, job.job, early)
  return early.length
}

/** How many more runs of a key may start. */
function leftOf({ keys }: ClaimRooms, key: string | undefined): number {
  return (key === undefined ? undefined : keys.get(key)?.left) ?? Infinity
}
