import type { Instant } from '../../time/instant.js'
import { claimingTargets, holdsAt, type Hold } from '../hold/hold.js'
import type { RunId } from '../identity/identity.js'
import type { Job, Queue } from '../job/job.js'
import {
  nextStartAt,
  possibleState,
  rateEntry,
  ratesOf,
  startsAt,
  type JobRates,
  type RateLimit,
  type RateState,
} from '../job/rate-limit.js'
import { concurrencyKeyOf } from '../job/rate-turns.js'
import type { StateKey } from '../state/state-entry.js'
import { snoozedReason, type Run, type StoredError } from './run.js'

/** Why a run has not been claimed yet. */
export type PendingReason =
  /** It is not due yet. */
  | { readonly kind: 'due-later'; readonly at: Instant }
  /** An attempt failed, and the next one waits. */
  | {
      readonly kind: 'retry'
      readonly at: Instant
      readonly failures: number
      readonly error: StoredError | undefined
    }
  /** Its handler snoozed it. */
  | { readonly kind: 'snoozed'; readonly at: Instant; readonly reason: string }
  /** Everything is frozen, or a kill switch is off. */
  | { readonly kind: 'held'; readonly hold: Hold }
  | { readonly kind: 'queue-paused'; readonly queue: string; readonly hold: Hold }
  /** A limit that it shares with others is used up. */
  | {
      readonly kind: 'limit'
      readonly of: LimitKind
      /** The job, trigger, asset or service that has the limit. */
      readonly name: string
      /** The concurrency key or the partition, for limits of those kinds. */
      readonly key: string | undefined
      readonly limit: number
      readonly holders: readonly RunId[]
    }
  | {
      readonly kind: 'queue-full'
      readonly queue: string
      readonly limit: number
      readonly holders: readonly RunId[]
    }
  /** A rate limit allows no start before an instant. */
  | {
      readonly kind: 'rate-limit'
      readonly of: keyof JobRates
      /** The queue or job that has the limit. */
      readonly name: string
      /** The concurrency key, if each key has its own limit. */
      readonly key: string | undefined
      readonly max: number
      readonly perMs: number
      readonly at: Instant
    }
  /** No source defines its job. */
  | { readonly kind: 'job-undefined'; readonly job: string }
  | { readonly kind: 'no-worker' }
  /** Every live worker drains. */
  | { readonly kind: 'draining'; readonly workers: number }
  /** Its job is a function, and no live worker has it. */
  | { readonly kind: 'no-handler'; readonly job: string; readonly source: string; readonly workers: number }
  /** All slots of the workers that could perform it are taken. */
  | { readonly kind: 'slots-taken'; readonly slots: number; readonly workers: number }
  /** Nothing blocks it. */
  | { readonly kind: 'ready' }

/** What has a limit: a trigger without overlap, a job, a concurrency key, a partition, a service, a backfill. */
export type LimitKind = 'trigger' | 'job' | 'key' | 'partition' | 'service' | 'backfill'

/** A worker that is alive. */
export interface LiveWorker {
  readonly isDraining: boolean
  /** Undefined for processes of an older release. */
  readonly slots: number | undefined
  readonly running: number
  /** The functions that it has; undefined if the process did not list them. */
  readonly functions: ReadonlySet<string> | undefined
}

/** The facts of a store at one moment that may keep runs waiting. */
export interface WaitingFacts {
  readonly now: Instant
  readonly jobs: ReadonlyMap<string, { readonly job: Job; readonly source: string }>
  readonly queues: ReadonlyMap<string, Queue>
  /** The states of rate limits, by `rateName`. */
  readonly rates: ReadonlyMap<string, RateState>
  readonly holds: readonly Hold[]
  readonly workers: readonly LiveWorker[]
  /** Runs that are being performed, and runs that have taken their slots and wait for a worker. */
  readonly holding: readonly Run[]
}

/** Why a pending run is not being performed, the most important reason first; empty for any other run. */
export function pendingReasons(run: Run, facts: WaitingFacts): readonly PendingReason[] {
  if (run.state !== 'pending') return []
  if (run.runAt > facts.now) return [notYet(run)]
  const held = [heldBack(run, facts), limited(run, facts), queueFull(run, facts), ...rateLimited(run, facts)]
  const found = held.flatMap((one) => one ?? [])
  if (found.some((reason) => 'holders' in reason && reason.holders.length > 0)) return found
  const all = [...found, ...withoutWorker(run, facts)]
  return all.length === 0 ? [{ kind: 'ready' }] : all
}

function notYet({ runAt: at, failures, error, reason = '' }: Run): PendingReason {
  if (reason.startsWith(snoozedReason))
    return { kind: 'snoozed', at, reason: reason.slice(snoozedReason.length).replace(/^: /, '') }
  return failures > 0 ? { kind: 'retry', at, failures, error } : { kind: 'due-later', at }
}

function heldBack(run: Run, { holds, now, jobs }: WaitingFacts): PendingReason | undefined {
  const open = holds.filter((hold) => holdsAt(hold, now))
  const claiming = open.find((hold) => claimingTargets.includes(hold.target))
  if (claiming !== undefined) return { kind: 'held', hold: claiming }
  const queue = queueOf(run, jobs)
  const hold = open.find(({ target }) => target === `queue:${queue}`)
  return hold === undefined ? undefined : { kind: 'queue-paused', queue, hold }
}

function limited(run: Run, { holding, jobs }: WaitingFacts): PendingReason | undefined {
  const { waitsFor } = run
  if (waitsFor === undefined) return undefined
  const holders = holding.filter(
    ({ id, slots }) => id !== run.id && slots.some(({ key }) => key === waitsFor),
  )
  const limit = run.slots.find(({ key }) => key === waitsFor)?.limit ?? 1
  const { of, name, key } = readSlot(waitsFor)
  const job = jobs.get(run.job)?.job
  // The current definition of a job decides its limits, not the one that was in force when the run was recorded.
  const current = of === 'job' ? job?.concurrency : of === 'key' ? job?.concurrencyPerKey : undefined
  return { kind: 'limit', of, name, key, limit: current ?? limit, holders: holders.map(({ id }) => id) }
}

/** The parts of the key of a limit: `job:x`, `key:x=k`. */
function readSlot(slot: string): { of: LimitKind; name: string; key: string | undefined } {
  const colon = slot.indexOf(':')
  const of = slot.slice(0, colon) as LimitKind
  const rest = slot.slice(colon + 1)
  if (of !== 'key' && of !== 'partition') return { of, name: rest, key: undefined }
  // No name has an equals sign in it.
  const equals = rest.indexOf('=')
  return { of, name: rest.slice(0, equals), key: rest.slice(equals + 1) }
}

function queueFull(run: Run, { holding, queues, jobs }: WaitingFacts): PendingReason | undefined {
  const queue = queueOf(run, jobs)
  const limit = queues.get(queue)?.concurrency
  if (limit === undefined || run.waitsFor !== undefined) return undefined
  const holders = holding.filter((other) => other.state === 'running' && queueOf(other, jobs) === queue)
  if (holders.length < limit) return undefined
  return { kind: 'queue-full', queue, limit, holders: holders.map(({ id }) => id) }
}

/** The keys of the state entries of a run's rate limits. */
export function ratesOfRun(
  run: Run,
  { jobs, queues }: Pick<WaitingFacts, 'jobs' | 'queues'>,
): readonly { readonly of: keyof JobRates; readonly limit: RateLimit; readonly entry: StateKey }[] {
  const queue = queueOf(run, jobs)
  const limits = ratesOf(jobs.get(run.job)?.job ?? {}, queues.get(queue))
  const key = concurrencyKeyOf(run.job, run.slots)
  return (['queue', 'job', 'key'] as const).flatMap((of) => {
    const limit = limits?.[of]
    if (limit === undefined || (of === 'key' && key === undefined)) return []
    return [{ of, limit, entry: rateEntry(of, of === 'queue' ? queue : run.job, of === 'key' ? key : '') }]
  })
}

/** The name of a rate limit's state among the facts. */
export function rateName({ name, item }: StateKey): string {
  return `${name}=${item}`
}

function rateLimited(run: Run, facts: WaitingFacts): PendingReason[] {
  if (run.waitsFor !== undefined) return []
  return ratesOfRun(run, facts).flatMap(({ of, limit, entry }): PendingReason[] => {
    const stored = facts.rates.get(rateName(entry))
    const state = stored === undefined ? undefined : possibleState(limit, stored, facts.now)
    if (state === undefined || startsAt(limit, state, facts.now) > 0) return []
    const { max, perMs } = limit
    const at = nextStartAt(limit, state)
    const name = entry.name.slice(of.length + 1)
    return [{ kind: 'rate-limit', of, name, key: of === 'key' ? entry.item : undefined, max, perMs, at }]
  })
}

function withoutWorker(run: Run, { jobs, workers }: WaitingFacts): PendingReason[] {
  const defined = jobs.get(run.job)
  if (defined === undefined) return [{ kind: 'job-undefined', job: run.job }]
  if (workers.length === 0) return [{ kind: 'no-worker' }]
  const taking = workers.filter((worker) => !worker.isDraining)
  if (taking.length === 0) return [{ kind: 'draining', workers: workers.length }]
  const { job, source } = defined
  const able = taking.filter((worker) => isAble(worker, job))
  if (able.length === 0) return [{ kind: 'no-handler', job: job.name, source, workers: taking.length }]
  const isFull = able.every(({ slots, running }) => slots !== undefined && running >= slots)
  if (!isFull) return []
  const slots = able.reduce((sum, worker) => sum + (worker.slots ?? 0), 0)
  return [{ kind: 'slots-taken', slots, workers: able.length }]
}

/** Whether a worker can perform a job: a function only if its own program has it, anything else always. */
function isAble({ functions }: LiveWorker, { name, handler }: Job): boolean {
  const isOwn = handler.kind === 'function' || handler.kind === 'module'
  return !isOwn || functions === undefined || functions.has(name)
}

function queueOf({ job }: Run, jobs: WaitingFacts['jobs']): string {
  return jobs.get(job)?.job.queue ?? 'default'
}
