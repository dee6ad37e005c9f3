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
const manyJobs = 32

// Relies on: runs_ready, in its own order. Rows that another worker is about to take are passed, so no two wait for
// each other and no run is taken twice.
const CANDIDATES = `select found.* from unnest($1::text[]) wanted (name) cross join lateral (
    select seq, id, job, priority, run_at, attempt, failures, crashes, due_at, trigger, partition, gates, follow
    from rota.runs where state = ${ready} and job = wanted.name
    order by priority desc, run_at, seq limit $2 offset $3 for update skip locked
  ) found`

// Relies on: primary key.
const TAKE = `update rota.runs
  set state = ${running}, attempt = attempt + 1, worker = $1, claimed_at = $2, started_at = null
  where seq = any($3::int8[]) returning ctid as place, seq, payload`

// Relies on: runs_ready. Jumps from one job to the next, whatever number of runs each has.
const READY_JOBS = `with recursive ready (job) as (
    (select job from rota.runs where state = ${ready} order by job limit 1)
    union all
    select (select runs.job from rota.runs where state = ${ready} and runs.job > ready.job order by runs.job limit 1)
    from ready where ready.job is not null
  )
  select job from ready where job is not null`

// Relies on: runs_ready.
const ANY_READY = `select 1 from unnest($1::text[]) wanted (name) where exists (
    select 1 from rota.runs where state = ${ready} and job = wanted.name
  ) limit 1`

const QUEUE_RUNNING = `select running from rota.queues where name = $1`

const ENTER_QUEUE = `update rota.queues set running = running + $1 where name = $2`

interface Row {
  readonly seq: number
  readonly id: string
  readonly job: string
  readonly priority: number
  readonly run_at: number
  readonly attempt: number
  readonly failures: number
  readonly crashes: number
  readonly due_at: number
  readonly trigger: string | null
  readonly partition: string | null
  readonly gates: string | null
  readonly follow: number | null
}

interface Taken {
  readonly place: string
  readonly seq: number
  readonly payload: string | null
}

/** The ready runs of a job as far as they were read, with the room that its queue has left. */
interface Offer {
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

/** Claims what a worker wants: its slots from all that is ready, then plain runs ahead. */
export async function claimRuns(
  session: Session,
  request: { claimRequest: ClaimRequest; worker: number; now: Instant },
): Promise<{ claims: Claim[]; more: boolean }> {
  const { claimRequest, now, worker } = request
  const catalog = await session.catalogNow()
  if (isClaimingHeld(catalog, now)) return { claims: [], more: false }
  const rooms = await roomsFor(session, { catalog, jobs: await wantedJobs(session, claimRequest), now })
  const offers = await offersFor(session, rooms, claimRequest)
  const { taken, more } = choose(offers, claimRequest)
  const claims = taken.length === 0 ? [] : await take(session, taken, { worker, now })
  for (const room of new Set(rooms.values()))
    if (room.taken > 0) await session.db.change(ENTER_QUEUE, room.taken, room.name)
  const isHungry = !more && !session.isExclusive && taken.length < claimRequest.slots + claimRequest.prefetch
  return { claims, more: more || (isHungry && (await isAnyReady(session, rooms))) }
}

/** Others may have been about to take what they then left: who was turned away looks again. */
async function isAnyReady(session: Session, rooms: ReadonlyMap<string, QueueRoom>): Promise<boolean> {
  return rooms.size > 0 && (await session.db.value(ANY_READY, [...rooms.keys()])) !== undefined
}

async function wantedJobs(session: Session, claimRequest: ClaimRequest): Promise<readonly string[]> {
  if (claimRequest.jobs.length < manyJobs) return claimRequest.jobs
  const wanted = new Set(claimRequest.jobs)
  const found = await session.db.all<{ job: string }>(READY_JOBS)
  return found.map(({ job }) => job).filter((job) => wanted.has(job))
}

/** For each job that may be claimed now, the room in its queue. */
async function roomsFor(
  session: Session,
  { catalog, jobs, now }: { catalog: Catalog; jobs: readonly string[]; now: Instant },
): Promise<Map<string, QueueRoom>> {
  const rooms = new Map<string, QueueRoom>()
  const byQueue = new Map<string, QueueRoom>()
  for (const job of jobs) {
    const { queue } = jobOf(catalog, job)
    if (isQueueHeld(catalog, queue, now)) continue
    const room = byQueue.get(queue) ?? (await roomIn(session, catalog, queue))
    byQueue.set(queue, room)
    if (room.room > 0) rooms.set(job, room)
  }
  return rooms
}

async function roomIn(session: Session, catalog: Catalog, queue: string): Promise<QueueRoom> {
  const limit = catalog.queueLimits.get(queue)
  if (limit === undefined) return { name: queue, isLimited: false, room: Infinity, taken: 0 }
  session.beExclusive()
  const held = (await session.db.value(QUEUE_RUNNING, queue)) as number
  return { name: queue, isLimited: true, room: limit - held, taken: 0 }
}

/** The ready runs of each job, the most urgent first, as many as may be of use. */
async function offersFor(
  session: Session,
  rooms: ReadonlyMap<string, QueueRoom>,
  { slots, prefetch }: ClaimRequest,
): Promise<Offer[]> {
  const jobs = [...rooms.keys()]
  if (jobs.length === 0) return []
  const isOnly = jobs.length === 1
  const slack = prefetch > 0 ? slackAhead : 0
  const few = slots + Math.min(prefetch, slack) + slack + 1
  const limit = isOnly ? few : Math.min(few, maxPerJob)
  const rows = await session.db.all<Row>(CANDIDATES, jobs, limit, 0)
  const rest = isOnly && rows.length === limit && rows.slice(slots).some(isPlain) ? prefetch - slack : 0
  // Those that were read are locked by this transaction itself, so the same statement passes over none of them.
  const more = rest > 0 ? await session.db.all<Row>(CANDIDATES, jobs, rest, limit) : []
  return jobs.flatMap((job) => {
    const own = [...rows, ...more].filter((row) => row.job === job)
    if (own.length === 0) return []
    const isCutOff = rest > 0 ? more.length === rest : own.length === limit
    return [{ queue: rooms.get(job) as QueueRoom, rows: own, isCutOff, next: 0 }]
  })
}

/** Takes from the offers in order of urgency. Ends early where one is used up that was cut off: what follows is not known. */
function choose(offers: readonly Offer[], claimRequest: ClaimRequest): { taken: Row[]; more: boolean } {
  const taken: Row[] = []
  let skipped = false
  while (taken.length < claimRequest.slots + claimRequest.prefetch) {
    const offer = mostUrgent(offers)
    if (offer === undefined) break
    const row = offer.rows[offer.next++] as Row
    if (taken.length < claimRequest.slots || (!offer.queue.isLimited && isPlain(row))) {
      taken.push(row)
      enter(offer.queue)
    } else {
      skipped = true
    }
    if (offer.isCutOff && offer.next === offer.rows.length) return { taken, more: true }
  }
  return { taken, more: skipped || mostUrgent(offers) !== undefined }
}

function enter(queue: QueueRoom): void {
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
  const a = one.rows[one.next] as Row
  const b = other.rows[other.next] as Row
  if (a.priority !== b.priority) return a.priority > b.priority
  if (a.run_at !== b.run_at) return a.run_at < b.run_at
  return a.seq < b.seq
}

/** Whether nobody is kept waiting by a run that is held before its turn. */
function isPlain(row: Row): boolean {
  return row.gates === null && row.crashes === 0
}

async function take(
  session: Session,
  taken: readonly Row[],
  { worker, now }: { worker: number; now: Instant },
): Promise<Claim[]> {
  const seqs = taken.map(({ seq }) => seq)
  const rows = await session.db.changed<Taken>(TAKE, worker, now, seqs)
  const written = new Map(rows.map((row) => [row.seq, row]))
  session.afterCommit(() => {
    for (const { seq, id, job, gates, follow } of taken) {
      const place = written.get(seq)?.place
      session.remembered.rememberClaim(id, { job, isPlain: gates === null && follow === null, place })
    }
  })
  return taken.map((row) => ({
    run: row.id,
    job: row.job,
    trigger: orUndefined(row.trigger),
    attempt: row.attempt + 1,
    failures: row.failures,
    crashes: row.crashes,
    dueAt: row.due_at,
    partition: orUndefined(row.partition),
    payload: fromJson(written.get(row.seq)?.payload ?? null),
    claimedAt: now,
  }))
}
