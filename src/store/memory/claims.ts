import { claimingTargets } from '../../kernel/hold/hold.js'
import type { Instant } from '../../time/instant.js'
import type { Claim, Turn, ClaimRequest } from '../port.js'
import { isHeld } from './holds.js'
import { copyJson } from './json-copy.js'
import { makeRunning } from './run-moves.js'
import type { ReadyRuns } from './ready-runs.js'
import { byUrgency, jobOf, type RunRow, type Tables } from './tables.js'

/** Claims what a worker wants: its slots from all that is ready, then plain runs ahead. */
export function claimRuns(tables: Tables, turn: Turn): { claims: Claim[]; more: boolean } {
  const { claimRequest, worker, now } = turn
  if (claimRequest === undefined || isHeld(tables, claimingTargets, now)) return { claims: [], more: false }
  const rooms = new Rooms(tables, claimRequest, now)
  const claims: Claim[] = []
  while (claims.length < claimRequest.slots + claimRequest.prefetch) {
    const row = claims.length < claimRequest.slots ? nextOfAny(tables, rooms) : nextPlain(tables, rooms)
    if (row === undefined) break
    makeRunning(tables, row, { worker, now })
    rooms.take(row.job)
    claims.push(toClaim(row, now))
  }
  return { claims, more: nextOfAny(tables, rooms) !== undefined }
}

function nextOfAny({ readyPlain, readyOther }: Tables, rooms: Rooms): RunRow | undefined {
  const plain = firstOf(readyPlain, (job) => rooms.in(job) > 0)
  const other = firstOf(readyOther, (job) => rooms.in(job) > 0)
  if (plain === undefined || other === undefined) return plain ?? other
  return byUrgency(plain, other) < 0 ? plain : other
}

function nextPlain({ readyPlain }: Tables, rooms: Rooms): RunRow | undefined {
  return firstOf(readyPlain, (job) => rooms.in(job) === Infinity)
}

function firstOf(ready: ReadyRuns<RunRow>, mayClaim: (job: string) => boolean): RunRow | undefined {
  for (const row of ready.heads()) if (mayClaim(row.job)) return row
  return undefined
}

/** How many runs of each job one turn may still take: none of what is not wanted or paused, all of an unlimited queue. */
class Rooms {
  readonly #tables: Tables
  readonly #claimRequest: ClaimRequest
  readonly #now: Instant
  readonly #byQueue = new Map<string, { room: number }>()
  readonly #byJob = new Map<string, { room: number }>()

  constructor(tables: Tables, claimRequest: ClaimRequest, now: Instant) {
    this.#tables = tables
    this.#claimRequest = claimRequest
    this.#now = now
  }

  in(job: string): number {
    return this.#of(job).room
  }

  take(job: string): void {
    this.#of(job).room--
  }

  #of(job: string): { room: number } {
    const known = this.#byJob.get(job)
    if (known !== undefined) return known
    const room = this.#claimRequest.jobs.includes(job)
      ? this.#inQueue(jobOf(this.#tables, job).queue)
      : { room: 0 }
    this.#byJob.set(job, room)
    return room
  }

  #inQueue(queue: string): { room: number } {
    const known = this.#byQueue.get(queue)
    if (known !== undefined) return known
    const isPaused = isHeld(this.#tables, [`queue:${queue}`], this.#now)
    const room = { room: isPaused ? 0 : roomIn(this.#tables, queue) }
    this.#byQueue.set(queue, room)
    return room
  }
}

function roomIn(tables: Tables, queue: string): number {
  const limit = tables.queues.get(queue)?.concurrency
  return limit === undefined ? Infinity : limit - runningIn(tables, queue)
}

/** How many runs of the jobs of a queue are held, over all workers. */
export function runningIn(tables: Tables, queue: string): number {
  let running = 0
  for (const [job, runs] of tables.runsByJob) {
    if (runs.running > 0 && jobOf(tables, job).queue === queue) running += runs.running
  }
  return running
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
