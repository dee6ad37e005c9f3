import type { Instant } from '../../time/instant.js'
import type { Claim, ClaimRequest } from '../port.js'
import { isClaimingHeld, isQueueHeld, jobOf, type Catalog } from '../sql/catalog.js'
import { fromJson, orUndefined } from '../sql/rows/run-rows.js'
import { ready, running } from '../sql/rows/states.js'
import type { Session } from './session.js'

/** The most candidates that are read of one job where a worker wants several: bounds what a claim costs. */
const maxPerJob = 64

/** How many more are read where only plain ones may be taken, since others may stand before them. Where none of them is plain, that is all. */
const slackAhead = 32

/** From this number of wanted jobs on, those that have ready runs are looked up first. */
const manyJobs = 8

/** Longer payloads are read only for the runs that are taken. */
const maxInlinePayload = 4096

// Relies on: runs_ready, in its own order. The write lock keeps two workers from taking one run. A bare parameter as
// the limit would make SQLite prepare the statement anew at every claim: the sum keeps it from looking at the value.
const CANDIDATES = `select json_group_array(json_array(seq, id, priority, run_at, attempt, failures, crashes, due_at,
    trigger, partition, gates, follow, payload is not null,
    case when octet_length(payload) <= ${maxInlinePayload} then payload end))
  from (
    select * from runs where state = ${ready} and job = ? order by priority desc, run_at, seq limit ? + 0 offset ? + 0
  )`

// Relies on: primary key.
const TAKE = `update runs set state = ${running}, attempt = attempt + 1, worker = ?, claimed_at = ?, started_at = null
  where seq in (select value from json_each(?))`

// Relies on: runs_ready. Jumps from one job to the next, whatever number of runs each has.
const READY_JOBS = `with recursive ready (job) as (
    select min(job) from runs where state = ${ready}
    union all
    select (select min(job) from runs where state = ${ready} and job > ready.job) from ready where job is not null
  )
  select json_group_array(job) from ready where job is not null`

// Relies on: primary key.
const PAYLOAD = `select payload from runs where seq = ?`

const QUEUE_RUNNING = `select running from queues where name = ?`

const ENTER_QUEUE = `update queues set running = running + ? where name = ?`

type Row = [
  seq: number,
  id: string,
  priority: number,
  runAt: number,
  attempt: number,
  failures: number,
  crashes: number,
  dueAt: number,
  trigger: string | null,
  partition: string | null,
  gates: string | null,
  follow: number | null,
  hasPayload: 0 | 1,
  payload: string | null,
]

/** The ready runs of a job as far as they were read, with the room that its queue has left. */
interface Offer {
  readonly job: string
  readonly queue: QueueRoom
  readonly rows: readonly Row[]
  /** Whether there may be more than was read. */
  readonly isCutOff: boolean
  next: number
}

interface QueueRoom {
  readonly name: string
  readonly isLimited: boolean
  room: number
  taken: number
}

interface Taken {
  readonly row: Row
  readonly job: string
}

/** Claims what a worker wants: its slots from all that is ready, then plain runs ahead. */
export function claimRuns(
  session: Session,
  request: { claimRequest: ClaimRequest; worker: number; now: Instant },
): { claims: Claim[]; more: boolean } {
  const { claimRequest, now } = request
  const { catalogNow: catalog } = session
  if (isClaimingHeld(catalog, now)) return { claims: [], more: false }
  const rooms = new Map<string, QueueRoom>()
  const offers = offersFor(session, { catalog, claimRequest, now, rooms })
  const { taken, more } = choose(offers, claimRequest)
  if (taken.length === 0) return { claims: [], more }
  session.db.change(TAKE, request.worker, now, JSON.stringify(taken.map(({ row }) => row[0])))
  for (const room of rooms.values()) if (room.taken > 0) session.db.change(ENTER_QUEUE, room.taken, room.name)
  return { claims: taken.map((each) => claimOf(session, each, now)), more }
}

function offersFor(
  session: Session,
  request: { catalog: Catalog; claimRequest: ClaimRequest; now: Instant; rooms: Map<string, QueueRoom> },
): Offer[] {
  const { catalog, claimRequest, now, rooms } = request
  const jobs = wantedJobs(session, claimRequest)
  const offers: Offer[] = []
  for (const job of jobs) {
    const { queue } = jobOf(catalog, job)
    if (isQueueHeld(catalog, queue, now)) continue
    const room = rooms.get(queue) ?? roomIn(session, catalog, queue)
    rooms.set(queue, room)
    if (room.room <= 0) continue
    const { rows, isCutOff } = candidates(session, job, { claimRequest, isOnly: jobs.length === 1 })
    if (rows.length > 0) offers.push({ job, queue: room, rows, isCutOff, next: 0 })
  }
  return offers
}

/** The ready runs of a job, the most urgent first, as many as may be of use. */
function candidates(
  session: Session,
  job: string,
  { claimRequest, isOnly }: { claimRequest: ClaimRequest; isOnly: boolean },
): Pick<Offer, 'rows' | 'isCutOff'> {
  const { slots, prefetch } = claimRequest
  const slack = prefetch > 0 ? slackAhead : 0
  const few = slots + Math.min(prefetch, slack) + slack + 1
  const limit = isOnly ? few : Math.min(few, maxPerJob)
  const rows = session.db.json<Row[]>(CANDIDATES, job, limit, 0)
  const rest = isOnly && rows.length === limit && rows.slice(slots).some(isPlain) ? prefetch - slack : 0
  if (rest <= 0) return { rows, isCutOff: rows.length === limit }
  const more = session.db.json<Row[]>(CANDIDATES, job, rest, limit)
  return { rows: [...rows, ...more], isCutOff: more.length === rest }
}

function wantedJobs(session: Session, claimRequest: ClaimRequest): readonly string[] {
  if (claimRequest.jobs.length < manyJobs) return claimRequest.jobs
  const wanted = new Set(claimRequest.jobs)
  return session.db.json<string[]>(READY_JOBS).filter((job) => wanted.has(job))
}

function roomIn(session: Session, catalog: Catalog, queue: string): QueueRoom {
  const limit = catalog.queueLimits.get(queue)
  if (limit === undefined) return { name: queue, isLimited: false, room: Infinity, taken: 0 }
  const held = session.db.value(QUEUE_RUNNING, queue) as number
  return { name: queue, isLimited: true, room: limit - held, taken: 0 }
}

/** Takes from the offers in order of urgency. Ends early where one is used up that was cut off: what follows is not known. */
function choose(offers: readonly Offer[], claimRequest: ClaimRequest): { taken: Taken[]; more: boolean } {
  const taken: Taken[] = []
  let skipped = false
  while (taken.length < claimRequest.slots + claimRequest.prefetch) {
    const offer = mostUrgent(offers)
    if (offer === undefined) break
    const row = offer.rows[offer.next++] as Row
    if (taken.length < claimRequest.slots || (!offer.queue.isLimited && isPlain(row))) {
      taken.push({ row, job: offer.job })
      take(offer.queue)
    } else {
      skipped = true
    }
    if (offer.isCutOff && offer.next === offer.rows.length) return { taken, more: true }
  }
  return { taken, more: skipped || mostUrgent(offers) !== undefined }
}

function take(queue: QueueRoom): void {
  if (!queue.isLimited) return
  queue.room--
  queue.taken++
}

function mostUrgent(offers: readonly Offer[]): Offer | undefined {
  let best: Offer | undefined
  for (const offer of offers) {
    if (offer.next === offer.rows.length || offer.queue.room <= 0) continue
    if (best === undefined || isMoreUrgent(offer, best)) best = offer
  }
  return best
}

function isMoreUrgent(one: Offer, other: Offer): boolean {
  const [seqA, , priorityA, runAtA] = one.rows[one.next] as Row
  const [seqB, , priorityB, runAtB] = other.rows[other.next] as Row
  if (priorityA !== priorityB) return priorityA > priorityB
  if (runAtA !== runAtB) return runAtA < runAtB
  return seqA < seqB
}

/** Whether nobody is kept waiting by a run that is held before its turn. */
function isPlain(row: Row): boolean {
  const crashes = row[6]
  const gates = row[10]
  return gates === null && crashes === 0
}

function claimOf(session: Session, { row, job }: Taken, now: Instant): Claim {
  const [seq, id, , , attempt, failures, crashes, dueAt, trigger, partition, gates, follow] = row
  if (follow === null) session.rememberClaim(id, { seq, job, gates })
  return {
    run: id,
    job,
    trigger: orUndefined(trigger),
    attempt: attempt + 1,
    failures,
    crashes,
    dueAt,
    partition: orUndefined(partition),
    payload: fromJson(payloadOf(session, row)),
    claimedAt: now,
  }
}

function payloadOf(session: Session, [seq, , , , , , , , , , , , hasPayload, payload]: Row): string | null {
  if (hasPayload === 0 || payload !== null) return payload
  return session.db.value(PAYLOAD, seq) as string
}
