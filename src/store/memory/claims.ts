import { claimingTargets } from '../../model/hold.js'
import type { Instant } from '../../time/instant.js'
import type { Claim, Turn, Want } from '../store.js'
import { isHeld } from './holds.js'
import { copyJson } from './json-copy.js'
import { makeRunning } from './run-moves.js'
import { byUrgency, jobOf, runsOfJob, type JobRuns, type RunRow, type Tables } from './tables.js'

/** Claims what a worker wants: its slots from all that is ready, then plain runs ahead. */
export function claimRuns(tables: Tables, turn: Turn): { claims: Claim[]; more: boolean } {
  const { want, worker, now } = turn
  if (want === undefined || tables.readyJobs.size === 0) return { claims: [], more: false }
  if (isHeld(tables, claimingTargets, now)) return { claims: [], more: false }
  const offers = offersFor(tables, want, now)
  const claims: Claim[] = []
  while (claims.length < want.slots + want.ahead) {
    const best = mostUrgent(offers, claims.length < want.slots ? bestOf : bestPlainOf)
    if (best === undefined) break
    makeRunning(tables, best.row, { worker, now })
    best.offer.queue.room--
    claims.push(toClaim(best.row, now))
  }
  return { claims, more: mostUrgent(offers, bestOf) !== undefined }
}

/** The ready runs of a job that may be claimed, with the room its queue has left. */
interface Offer {
  readonly runs: JobRuns
  readonly queue: QueueRoom
}

interface QueueRoom {
  readonly isLimited: boolean
  room: number
}

function offersFor(tables: Tables, want: Want, now: Instant): Offer[] {
  const wanted = new Set(want.jobs)
  const rooms = new Map<string, QueueRoom>()
  const offers: Offer[] = []
  for (const job of tables.readyJobs) {
    if (!wanted.has(job)) continue
    const { queue } = jobOf(tables, job)
    if (isHeld(tables, [`queue:${queue}`], now)) continue
    const room = rooms.get(queue) ?? roomIn(tables, queue)
    rooms.set(queue, room)
    offers.push({ runs: runsOfJob(tables, job), queue: room })
  }
  return offers
}

function roomIn(tables: Tables, queue: string): QueueRoom {
  const limit = tables.queues.get(queue)?.concurrency
  if (limit === undefined) return { isLimited: false, room: Infinity }
  return { isLimited: true, room: limit - runningIn(tables, queue) }
}

/** How many runs of the jobs of a queue are held, over all workers. */
export function runningIn(tables: Tables, queue: string): number {
  let running = 0
  for (const [job, runs] of tables.runsByJob) {
    if (runs.running > 0 && jobOf(tables, job).queue === queue) running += runs.running
  }
  return running
}

function mostUrgent(
  offers: readonly Offer[],
  bestIn: (offer: Offer) => RunRow | undefined,
): { row: RunRow; offer: Offer } | undefined {
  let best: { row: RunRow; offer: Offer } | undefined
  for (const offer of offers) {
    const row = offer.queue.room > 0 ? bestIn(offer) : undefined
    if (row !== undefined && (best === undefined || byUrgency(row, best.row) < 0)) best = { row, offer }
  }
  return best
}

function bestOf({ runs: { plain, other } }: Offer): RunRow | undefined {
  if (plain.first === undefined || other.first === undefined) return plain.first ?? other.first
  return byUrgency(plain.first, other.first) < 0 ? plain.first : other.first
}

function bestPlainOf({ runs, queue }: Offer): RunRow | undefined {
  return queue.isLimited ? undefined : runs.plain.first
}

function toClaim(row: RunRow, now: Instant): Claim {
  return {
    run: row.id,
    job: row.job,
    trigger: row.trigger,
    attempt: row.attempt,
    failures: row.failures,
    crashes: row.crashes,
    dueAt: row.dueAt,
    partition: row.partition,
    payload: copyJson(row.payload),
    claimedAt: now,
  }
}
