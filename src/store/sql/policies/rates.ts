/*
 * Limits of rates as a claim sees them. The state of a limit is one entry, and whoever reads it is the only writer until
 * the end of its transaction: so the limit is exact over all workers. Runs wait in the index of ready runs, and a limit
 * that lets nothing start is not looked behind.
 */
import {
  afterStarts,
  inTurns,
  nextStartAt,
  rateKey,
  rateStateOf,
  rateTurnOf,
  rateWindow,
  startsAt,
  type RateLimit,
  type RateState,
} from '../../../kernel/job/rate-limit.js'
import type { Json } from '../../../kernel/definition/json.js'
import type { Instant } from '../../../time/instant.js'
import type { Catalog } from '../catalog.js'
import { slotsOf } from '../rows/run-rows.js'
import { ready } from '../rows/states.js'
import type { Candidate } from '../runs/native-verbs.js'
import type { Session } from '../session.js'
import { stateValue, writeStateEntry } from '../state.js'
import type { Verb } from '../verb.js'

// Relies on: runs_ready.
const ANY_READY = `select 1 from rota.runs where state = ${ready} and job = $1 limit 1`

/** The limit of a job during one claim. */
export interface RateRoom {
  readonly job: string
  readonly limit: RateLimit
  readonly state: RateState
  /** How many more may start. */
  left: number
  readonly keys: string[]
}

/** The limits of the wanted jobs that have one. */
export function* rateRooms(
  session: Session,
  { catalog, jobs, now }: { catalog: Catalog; jobs: readonly string[]; now: Instant },
): Verb<Map<string, RateRoom>> {
  const rooms = new Map<string, RateRoom>()
  if (catalog.ratedJobs.size === 0) return rooms
  for (const job of jobs) {
    const limit = catalog.ratedJobs.get(job)
    if (limit === undefined) continue
    session.beExclusive()
    const state = rateStateOf(yield* stateValue(session, rateKey(job)))
    rooms.set(job, { job, limit, state, left: startsAt(limit, state, now), keys: [] })
  }
  return rooms
}

/** The ready runs of a limited job in the order in which they start. */
export function* ratedCandidates(session: Session, { job, state }: RateRoom): Verb<Candidate[]> {
  const rows = yield* session.native.candidates([job], { limit: rateWindow, offset: 0 })
  return inTurns(rows, turnOf, state)
}

/** Notes that a run starts. */
export function spend(room: RateRoom | undefined, row: Candidate): void {
  if (room === undefined) return
  room.left--
  room.keys.push(turnOf(row))
}

/** Writes what has started; answers when the first limit lets another run start that keeps one waiting. */
export function* settleRates(
  session: Session,
  rooms: ReadonlyMap<string, RateRoom>,
  now: Instant,
): Verb<Instant | undefined> {
  let next: Instant | undefined
  for (const { job, limit, state, left, keys } of rooms.values()) {
    const after = keys.length === 0 ? state : afterStarts(limit, state, { now, keys })
    if (keys.length > 0) {
      const value = { freeAt: after.freeAt, keys: [...after.keys] } satisfies Json
      yield* writeStateEntry(session, { ...rateKey(job), value }, now)
    }
    if (left > 0 || (yield* session.sql.value(ANY_READY, job)) === undefined) continue
    const at = nextStartAt(limit, after)
    next = Math.min(at, next ?? at)
  }
  return next
}

function turnOf({ job, gates }: Candidate): string {
  return rateTurnOf(job, slotsOf(gates))
}
