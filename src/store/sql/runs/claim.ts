import { groupBy } from '../../../kernel/definition/group-by.js'
import { mayStart, spend } from '../../../kernel/job/rate-room.js'
import type { Instant } from '../../../time/instant.js'
import type { Claim, ClaimRequest } from '../../port.js'
import { heldUntil, isAnyRated, isClaimingHeld, isQueueHeld, jobOf, type Catalog } from '../catalog.js'
import { fromJson, orUndefined } from '../rows/run-rows.js'
import { ready } from '../rows/states.js'
import type { Session } from '../session.js'
import { each } from '../statement.js'
import type { Verb } from '../verb.js'
import { rateWindows } from '../policies/rate-window.js'
import { ratedRun, rateRooms, settleRates, type ClaimRooms } from '../policies/rate-limits.js'
import { letIn } from './concurrency-slots.js'
import { byUrgency, type Candidate, type WaitingRun } from './native-verbs.js'

/*
 * Which runs a worker gets, decided once for both databases. The statements that read the candidates and mark them as
 * claimed are native: `sqlite/claim-and-end.ts` and `postgres/commit/claim-and-end.ts`. Most claims of Postgres are made inside
 * its function `commit_work` instead, which `postgres/commit/one-call.ts` calls.
 */

/** The most candidates that are read of one job if a worker requests several jobs: limits the cost of a claim. */
const maxPerJob = 64

/** How many runs beyond a worker's slots are read first, to see whether any may be prefetched. */
const glance = 4

/** How many more are read if not every run may be claimed, since those may be first in the order. */
const slackAhead = 32

// Relies on: runs_ready. Jumps from one job to the next, whatever number of runs each has.
const READY_JOBS = each({
  sqlite: `with recursive found (job) as (
      select min(job) from runs where state = ${ready}
      union all
      select (select min(job) from runs where state = ${ready} and job > found.job) from found where job is not null
    )
    select job from found where job is not null`,
  postgres: `with recursive found (job) as (
      (select job from rota.runs where state = ${ready} order by job limit 1)
      union all
      select (select runs.job from rota.runs where state = ${ready} and runs.job > found.job order by runs.job limit 1)
      from found where found.job is not null
    )
    select job from found where job is not null`,
})

// Relies on: runs_ready.
const ANY_READY = each({
  sqlite: `select 1 from json_each($1) wanted where exists (
      select 1 from runs where state = ${ready} and job = wanted.value
    ) limit 1`,
  postgres: `select 1 from unnest($1::text[]) wanted (name) where exists (
      select 1 from rota.runs where state = ${ready} and job = wanted.name
    ) limit 1`,
})

const QUEUE_RUNNING = `select running from rota.queues where name = $1`

const ENTER_QUEUE = `update rota.queues set running = running + $1 where name = $2`

/** A candidate that is claimed. */
interface Chosen {
  readonly row: Candidate
  /** Whether other runs may wait for it. */
  readonly isLimited: boolean
}

/** Runs of a job that may be claimed, the most urgent first, with the room that its queue has left. */
interface Offer {
  readonly queue: QueueRoom
  /** The rate limits of its runs. */
  readonly rates?: ReadonlyMap<string, ClaimRooms> | undefined
  readonly rows: readonly Candidate[]
  /** Whether there may be more runs than were read. */
  readonly isCutOff: boolean
  next: number
}

interface QueueRoom {
  readonly name: string
  readonly isLimited: boolean
  room: number
  taken: number
}

/**
 * Claims what a worker requests: its slots from all ready runs, then the prefetch, with few limited runs. Runs that the
 * turn has admitted to a slot are claimed where they wait, in the same order; the rest of them becomes ready.
 */
export function* claimRuns(
  session: Session,
  request: { claimRequest: ClaimRequest; worker: number; now: Instant; admitted: readonly WaitingRun[] },
): Verb<{ claims: Claim[]; more: boolean; nextStartAt?: Instant | undefined }> {
  const { claimRequest, now, admitted } = request
  const catalog = yield* session.catalog()
  const heldAt = heldUntil(catalog, claimRequest.jobs, now)
  if (isClaimingHeld(catalog, now)) {
    yield* letIn(session, admitted)
    return { claims: [], more: false, nextStartAt: heldAt }
  }
  const wanted = wantedJobs(catalog, claimRequest)
  const isShort = wanted.length < session.native.manyJobs
  const jobs = isShort ? wanted : yield* jobsWithRuns(session, { catalog, wanted, admitted })
  const rooms = yield* roomsFor(session, { catalog, jobs, now })
  const rates = yield* rateRooms(session, { catalog, jobs: wanted, now })
  const mayFollow = ({ job }: WaitingRun): boolean => rooms.has(job) && !rates.has(job)
  yield* letIn(
    session,
    admitted.filter((run) => !mayFollow(run)),
  )
  const following = admitted.filter(mayFollow)
  const offers = yield* allOffers(session, { rooms, rates, now }, claimRequest)
  for (const rows of byJob(following.toSorted(byUrgency)).values()) offers.push(offerOf(rooms, rows, false))
  const { taken, more } = choose(offers, claimRequest)
  if (following.length > 0) {
    const takenRows = new Set(taken.map(({ row }) => row))
    yield* letIn(
      session,
      following.filter((run) => !takenRows.has(run)),
    )
  }
  const claims = taken.length === 0 ? [] : yield* take(session, taken, request)
  for (const room of new Set(rooms.values()))
    if (room.taken > 0) yield* session.sql.change(ENTER_QUEUE, room.taken, room.name)
  const ratedAt = rates.size === 0 ? undefined : yield* settleRates(session, rates, now)
  const nextStartAt = earlier(heldAt, ratedAt)
  const isHungry = !more && !session.isExclusive && taken.length < claimRequest.slots + claimRequest.prefetch
  return { claims, nextStartAt, more: more || (isHungry && (yield* isAnyReady(session, rooms, rates))) }
}

/** The earlier of two instants of which either may be absent. */
export function earlier(one: Instant | undefined, other: Instant | undefined): Instant | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

/** Another process may have locked runs that it then did not claim: then the worker looks again. */
function* isAnyReady(
  session: Session,
  rooms: ReadonlyMap<string, QueueRoom>,
  rates: ReadonlyMap<string, ClaimRooms>,
): Verb<boolean> {
  // No other transaction claims runs with a rate limit while this one has the lock of their limit.
  const jobs = [...rooms].flatMap(([job, { room }]) => (room > 0 && !rates.has(job) ? [job] : []))
  return jobs.length > 0 && (yield* session.sql.value(ANY_READY, jobs)) !== undefined
}

/** The jobs whose runs may be claimed. Without a free slot none with a rate limit, since those are not prefetched. */
function wantedJobs(catalog: Catalog, { jobs, slots }: ClaimRequest): readonly string[] {
  return slots > 0 || !isAnyRated(catalog, jobs) ? jobs : jobs.filter((job) => !catalog.rates.has(job))
}

/** The jobs with ready or admitted runs, and those that may have parked runs, which a claim wakes. */
function* jobsWithRuns(
  session: Session,
  given: { catalog: Catalog; wanted: readonly string[]; admitted: readonly WaitingRun[] },
): Verb<readonly string[]> {
  const { catalog, wanted, admitted } = given
  const found = yield* session.sql.all<{ job: string }>(READY_JOBS)
  const ready = new Set([...found, ...admitted].map(({ job }) => job))
  return wanted.filter((job) => ready.has(job) || catalog.rates.get(job)?.key !== undefined)
}

/** For each job that may be claimed now, the room in its queue. */
function* roomsFor(
  session: Session,
  { catalog, jobs, now }: { catalog: Catalog; jobs: readonly string[]; now: Instant },
): Verb<Map<string, QueueRoom>> {
  const rooms = new Map<string, QueueRoom>()
  const byQueue = new Map<string, QueueRoom>()
  for (const job of jobs) {
    const { queue } = jobOf(catalog, job)
    if (isQueueHeld(catalog, queue, now)) continue
    const limit = catalog.queueLimits.get(queue)
    const room =
      byQueue.get(queue) ?? (limit === undefined ? unlimited(queue) : yield* roomIn(session, queue, limit))
    byQueue.set(queue, room)
    if (room.room > 0) rooms.set(job, room)
  }
  return rooms
}

function unlimited(name: string): QueueRoom {
  return { name, isLimited: false, room: Infinity, taken: 0 }
}

function* roomIn(session: Session, queue: string, limit: number): Verb<QueueRoom> {
  yield* session.native.lockQueue(queue)
  const held = (yield* session.sql.value<number>(QUEUE_RUNNING, queue)) ?? 0
  return { name: queue, isLimited: true, room: limit - held, taken: 0 }
}

/** The runs of jobs without a rate limit, and of jobs whose limits allow a start. */
function* allOffers(
  session: Session,
  given: { rooms: ReadonlyMap<string, QueueRoom>; rates: ReadonlyMap<string, ClaimRooms>; now: Instant },
  claimRequest: ClaimRequest,
): Verb<Offer[]> {
  const { rooms, rates, now } = given
  if (rates.size === 0) return yield* offersFor(session, rooms, claimRequest)
  const free = new Map([...rooms].filter(([job]) => !rates.has(job)))
  const offers = yield* offersFor(session, free, claimRequest)
  const jobs = [...rates.values()].filter(({ job }) => rooms.has(job))
  for (const { job, rows, isCutOff } of yield* rateWindows(session, { jobs, now }))
    offers.push({ queue: rooms.get(job) as QueueRoom, rates, rows, isCutOff, next: 0 })
  return offers
}

/** The ready runs of each job, the most urgent first, as many as may be needed and as the queues have room for. */
function* offersFor(
  session: Session,
  rooms: ReadonlyMap<string, QueueRoom>,
  { slots, prefetch, prefetchLimited = 0 }: ClaimRequest,
): Verb<Offer[]> {
  const jobs = [...rooms.keys()]
  if (jobs.length === 0) return []
  const isOnly = jobs.length === 1
  // Beyond the room, for runs that lost an attempt and are first in the order: they are not prefetched.
  const room = Math.max(...[...rooms.values()].map((queue) => queue.room)) + glance
  const first = Math.min(slots + glance, isOnly ? Infinity : maxPerJob, room)
  const found = byJob(yield* session.native.candidates(jobs, { limit: first, offset: 0 }))
  const wanted = Math.min(slots + prefetch + slackAhead, room)
  const rest = (isOnly ? wanted : Math.min(wanted, maxPerJob)) - first
  const isWorthMore = (job: string, rows: readonly Candidate[]): boolean => {
    const mayTake = (row: Candidate): boolean => prefetchLimited > 0 || row.gates === null
    const isOpen = prefetchLimited > 0 || rooms.get(job)?.isLimited === false
    return rows.length === first && isOpen && rows.some((row) => row.crashes === 0 && mayTake(row))
  }
  const worthMore =
    prefetch > 0 && rest > 0 ? jobs.filter((job) => isWorthMore(job, found.get(job) ?? [])) : []
  // The rows that were read are locked by this transaction itself, so the same statement does not skip them.
  const more =
    worthMore.length === 0
      ? byJob<Candidate>([])
      : byJob(yield* session.native.candidates(worthMore, { limit: rest, offset: first }))
  return [...found].map(([job, rows]) => {
    const isRead = worthMore.includes(job)
    const further = more.get(job) ?? []
    const isCutOff = isRead ? further.length === rest : rows.length === first
    return offerOf(rooms, isRead ? [...rows, ...further] : rows, isCutOff)
  })
}

function byJob<Run extends Candidate>(rows: readonly Run[]): ReadonlyMap<string, readonly Run[]> {
  return groupBy(rows, ({ job }) => job)
}

function offerOf(
  rooms: ReadonlyMap<string, QueueRoom>,
  rows: readonly Candidate[],
  isCutOff: boolean,
): Offer {
  const queue = rooms.get((rows[0] as Candidate).job) as QueueRoom
  return { queue, rows, isCutOff, next: 0 }
}

/** Takes from the offers in order of urgency. Ends early if a cut-off offer is used up: its next run is unknown. */
function choose(
  offers: readonly Offer[],
  { slots, prefetch, prefetchLimited = 0 }: ClaimRequest,
): { taken: Chosen[]; more: boolean } {
  const taken: Chosen[] = []
  let limited = 0
  const skipped: Offer[] = []
  while (taken.length < slots + prefetch) {
    const offer = mostUrgent(offers)
    if (offer === undefined) break
    const row = offer.rows[offer.next++] as Candidate
    const isLimited = offer.queue.isLimited || row.gates !== null
    const isAhead = taken.length >= slots
    const mayPrefetch = row.crashes === 0 && offer.rates === undefined
    if (!isAhead || (mayPrefetch && (!isLimited || limited < prefetchLimited))) {
      if (isAhead && isLimited) limited++
      taken.push({ row, isLimited })
      enter(offer.queue)
      if (offer.rates !== undefined) spend(offer.rates, ratedRun(row))
    } else {
      skipped.push(offer)
    }
    const isUsedUp = offer.isCutOff && offer.next === offer.rows.length
    if (isUsedUp && offer.queue.room > 0 && mayStartMore(offer, row)) return { taken, more: true }
  }
  // A skipped run is more work only if its queue has room left.
  const isMore = skipped.some(({ queue }) => queue.room > 0) || mostUrgent(offers) !== undefined
  // All runs that were read were parked, and others may follow.
  return { taken, more: isMore || offers.some(({ isCutOff, rows }) => isCutOff && rows.length === 0) }
}

/** Whether the limits that the last run of an offer shares with the following ones allow another start. */
function mayStartMore({ rates }: Offer, { job }: Candidate): boolean {
  return rates === undefined || mayStart(rates, { job, key: undefined })
}

/** Whether an offer has a run that its queue and rate limits allow; skips runs that a limit now makes wait. */
function mayGive(offer: Offer): boolean {
  const { queue, rates, rows } = offer
  if (rates !== undefined)
    while (offer.next < rows.length && !mayStart(rates, ratedRun(rows[offer.next] as Candidate))) offer.next++
  return queue.room > 0 && offer.next < rows.length
}

function enter(queue: QueueRoom): void {
  if (!queue.isLimited) return
  queue.room--
  queue.taken++
}

function mostUrgent(offers: readonly Offer[]): Offer | undefined {
  let best: Offer | undefined
  for (const offer of offers) {
    if (!mayGive(offer)) continue
    if (best === undefined || isMoreUrgent(offer, best)) best = offer
  }
  return best
}

function isMoreUrgent(one: Offer, other: Offer): boolean {
  return byUrgency(one.rows[one.next] as Candidate, other.rows[other.next] as Candidate) < 0
}

function* take(
  session: Session,
  taken: readonly Chosen[],
  { worker, now }: { worker: number; now: Instant },
): Verb<Claim[]> {
  const rows = taken.map(({ row }) => row)
  const payloads = yield* session.native.take(rows, { worker, now })
  return taken.map(({ row, isLimited }, i) => ({
    run: row.id,
    job: row.job,
    trigger: orUndefined(row.trigger),
    attempt: row.attempt + 1,
    failures: row.failures,
    crashes: row.crashes,
    dueAt: row.due_at,
    partition: orUndefined(row.partition),
    payload: fromJson(payloads[i] ?? null),
    claimedAt: now,
    isLimited: isLimited || undefined,
    hasEndEffect: row.follow === null ? undefined : true,
  }))
}
