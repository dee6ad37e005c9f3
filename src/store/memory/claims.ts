import type { JobRates } from '../../kernel/job/rate-limit.js'
import { claimingTargets, type HoldTarget } from '../../kernel/hold/hold.js'
import type { Instant } from '../../time/instant.js'
import type { Claim, Turn } from '../port.js'
import { heldUntil, isHeld } from './holds.js'
import { copyJson } from './json-copy.js'
import { makeRunning } from './run-moves.js'
import { askedJobs, nextRated, noteStart, rateRooms, settleRates, type RateRooms } from './policies/rates.js'
import { byUrgency, getOrAdd, jobOf, type RunRow, type Tables } from './tables.js'

/** Fills the worker's slots with ready runs of any kind, then prefetches, but few limited runs. */
export function claimRuns(
  tables: Tables,
  turn: Turn,
): { claims: Claim[]; more: boolean; nextStartAt?: Instant | undefined } {
  const { claimRequest, worker, now } = turn
  if (claimRequest === undefined) return { claims: [], more: false }
  const heldAt =
    tables.holds.size === 0 ? undefined : heldUntil(tables, targetsOf(tables, claimRequest.jobs), now)
  if (isHeld(tables, claimingTargets, now)) return { claims: [], more: false, nextStartAt: heldAt }
  const { slots, prefetch, prefetchLimited = 0 } = claimRequest
  const { names, rates: rated } = askedJobs(tables, claimRequest.jobs)
  if (rated.size === 0 && isNothingReady(tables)) return { claims: [], more: false, nextStartAt: heldAt }
  // Runs with a rate limit are not prefetched.
  const isWanted = (job: string): boolean => names.has(job) && (slots > 0 || !rated.has(job))
  const freeSlots = freeSlotsOf(tables, isWanted, now)
  const isFree = (job: string): boolean => freeSlots(job).free > 0
  const rates = rateRooms(tables, { rates: slots > 0 ? rated : noRates, mayClaim: isFree, now })
  const mayClaim = (job: string): boolean => isFree(job) && !rates.byJob.has(job)
  const nextReady = (): RunRow | undefined =>
    moreUrgent(firstReady(tables, mayClaim), nextRated(rates, isFree))
  const claims: Claim[] = []
  let limited = 0
  while (claims.length < slots + prefetch) {
    const isAhead = claims.length >= slots
    const row = isAhead
      ? nextPrefetchable(tables, { freeSlots, rates, mayBeLimited: limited < prefetchLimited })
      : nextReady()
    if (row === undefined) break
    const room = freeSlots(row.job)
    const isLimited = row.slots.length > 0 || room.free < Infinity
    if (isAhead && isLimited) limited++
    makeRunning(tables, row, { worker, now })
    room.free--
    noteStart(rates, row)
    claims.push(toClaim(row, now, isLimited))
  }
  const nextStartAt = Math.min(heldAt ?? Infinity, settleRates(tables, rates, now) ?? Infinity)
  // If a slot is free, nothing more was ready.
  return { claims, nextStartAt, more: claims.length >= slots && nextReady() !== undefined }
}

/** The targets of holds that keep runs of these jobs from being claimed. */
function targetsOf(tables: Tables, jobs: readonly string[]): ReadonlySet<HoldTarget> {
  return new Set([...claimingTargets, ...jobs.map((job): HoldTarget => `queue:${jobOf(tables, job).queue}`)])
}

const noRates: ReadonlyMap<string, JobRates> = new Map()

function firstReady(
  { readyPlain, readySlotted, readyCrashed }: Tables,
  mayClaim: (job: string) => boolean,
): RunRow | undefined {
  const unbroken = moreUrgent(readyPlain.firstOf(mayClaim), readySlotted.firstOf(mayClaim))
  return moreUrgent(unbroken, readyCrashed.firstOf(mayClaim))
}

function isNothingReady({ readyPlain, readySlotted, readyCrashed }: Tables): boolean {
  return readyPlain.isEmpty && readySlotted.isEmpty && readyCrashed.isEmpty
}

function nextPrefetchable(
  tables: Tables,
  { freeSlots, rates, mayBeLimited }: { freeSlots: FreeSlots; rates: RateRooms; mayBeLimited: boolean },
): RunRow | undefined {
  const { readyPlain, readySlotted } = tables
  const isUnlimited = (job: string): boolean => freeSlots(job).free === Infinity && !rates.byJob.has(job)
  if (!mayBeLimited) return readyPlain.firstOf(isUnlimited)
  const mayClaim = (job: string): boolean => freeSlots(job).free > 0 && !rates.byJob.has(job)
  return moreUrgent(readyPlain.firstOf(mayClaim), readySlotted.firstOf(mayClaim))
}

function moreUrgent(one: RunRow | undefined, other: RunRow | undefined): RunRow | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return byUrgency(other, one) < 0 ? other : one
}

/** How many more runs of a job one turn may claim; jobs of the same queue share the number. */
type FreeSlots = (job: string) => { free: number }

/** Nothing is free for a job that was not requested or whose queue is paused. */
function freeSlotsOf(tables: Tables, isWanted: (job: string) => boolean, now: Instant): FreeSlots {
  const byJob = new Map<string, { free: number }>()
  const byQueue = new Map<string, { free: number }>()
  const inQueue = (queue: string): { free: number } => {
    const isPaused = isHeld(tables, [`queue:${queue}`], now)
    return { free: isPaused ? 0 : freeIn(tables, queue) }
  }
  return (job) =>
    getOrAdd(byJob, job, () => {
      if (!isWanted(job)) return { free: 0 }
      const { queue } = jobOf(tables, job)
      return getOrAdd(byQueue, queue, () => inQueue(queue))
    })
}

function freeIn(tables: Tables, queue: string): number {
  const limit = tables.queues.get(queue)?.concurrency
  return limit === undefined ? Infinity : limit - runningIn(tables, queue)
}

/** The number of running runs of a queue, over all workers. */
export function runningIn(tables: Tables, queue: string): number {
  let running = 0
  for (const [job, runs] of tables.runsByJob) {
    if (runs.running > 0 && jobOf(tables, job).queue === queue) running += runs.running
  }
  return running
}

function toClaim(row: RunRow, now: Instant, isLimited: boolean): Claim {
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
    isLimited: isLimited || undefined,
    hasEndEffect: row.endEffect === undefined ? undefined : true,
  }
}
