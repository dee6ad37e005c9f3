/**
 * Finds what a worker of a queue would claim, without changing anything. It uses the order in which the store assigns
 * runs, and includes runs that a worker would first reclaim or import.
 */
import { ClockGuard } from '../../../engine/scheduler/clock-guard.js'
import { claimingTargets, type Hold } from '../../../kernel/hold/hold.js'
import type { Job } from '../../../kernel/job/job.js'
import { pipelineJob } from '../../../kernel/job/pipeline.js'
import type { Run } from '../../../kernel/run/run.js'
import type { Store } from '../../../store/port.js'
import { systemClock } from '../../../time/clock.js'
import { formatInstant, type Instant } from '../../../time/instant.js'
import { queueFiles, queueRuns, type FiledRun, type NoRun, type QueueAt } from './files.js'
import { allRuns, byFileName, itemOf, type QueueItem } from './list.js'

/** What a worker would do next. */
export type NextRun =
  | { readonly kind: 'run'; readonly item: QueueItem }
  /** It would move these files to `failed`. */
  | { readonly kind: 'malformed'; readonly files: readonly NoRun[] }
  | { readonly kind: 'nothing'; readonly reason: IdleReason }

/** Why nothing is claimed. */
export interface IdleReason {
  readonly code: 'queue_empty' | 'worker_disabled'
  readonly message: string
}

interface When {
  readonly now: Instant
  readonly aheadMs: number
}

/** Finds what a worker would claim next; `store` is undefined if there is none yet. */
export async function nextRun(store: Store | undefined, queue: QueueAt, when: When): Promise<NextRun> {
  const files = malformedFiles(queue, when.now)
  if (files.length > 0) return { kind: 'malformed', files }
  const candidates = await candidatesOf(store, queue, when.now)
  const isFree = candidates.filter(({ heldBy }) => heldBy === undefined)
  const due = isFree.filter(({ runAt }) => runAt <= when.now).toSorted(byUrgency)
  const near = isFree.filter(({ runAt }) => runAt <= when.now + when.aheadMs).toSorted(byInstant)
  const hold = store === undefined ? undefined : await claimingHold(store, when.now)
  const [first] = due.length > 0 ? due : near
  if (hold === undefined && first !== undefined) return { kind: 'run', item: first.item }
  return { kind: 'nothing', reason: reasonOf(hold, candidates, when) }
}

/** Why a worker found nothing to claim. */
export async function idleReason(store: Store, queue: QueueAt, when: When): Promise<IdleReason> {
  const hold = await claimingHold(store, when.now)
  return reasonOf(hold, hold === undefined ? await candidatesOf(store, queue, when.now) : [], when)
}

/** The files that a worker moves to `failed`. */
export function malformedFiles(queue: QueueAt, now: Instant): readonly NoRun[] {
  const files = queueFiles(queue, now, ['pending'])
  return files.flatMap((file) => (file.kind === 'malformed' ? [file] : []))
}

function reasonOf(
  hold: Hold | undefined,
  candidates: readonly Candidate[],
  { now, aheadMs }: When,
): IdleReason {
  if (hold !== undefined) return { code: 'worker_disabled', message: wordsOf(hold) }
  const waiting = candidates.filter(({ runAt }) => runAt <= now + aheadMs)
  const [held] = waiting.flatMap(({ heldBy }) => heldBy ?? [])
  if (held !== undefined) return { code: 'queue_empty', message: `nothing is claimed: ${held}` }
  const [next] = candidates.toSorted(byInstant)
  const then = next === undefined ? '' : `; the next run is due at ${formatInstant(next.runAt)}`
  return { code: 'queue_empty', message: `nothing is due${then}` }
}

/** The hold that keeps all workers from claiming. */
async function claimingHold(store: Store, now: Instant): Promise<Hold | undefined> {
  return (await store.holds({ openAt: now })).find((hold) => claimingTargets.includes(hold.target))
}

/** What a hold stops, who set it, and why. */
export function wordsOf({ target, actor, note }: Hold): string {
  const what = target === 'all' ? 'everything is frozen' : `the stored ${target} is off`
  return `${what}, by ${actor}${note === '' ? '' : `: ${note}`}`
}

/** A run that is pending, or that a worker would first make pending. */
interface Candidate {
  readonly item: QueueItem
  readonly runAt: Instant
  readonly priority: number
  /** The order of recording; runs that are not recorded yet come last, by the names of their files. */
  readonly seq: number
  /** Why it cannot be claimed although it is due. */
  readonly heldBy: string | undefined
}

function byUrgency(a: Candidate, b: Candidate): number {
  return b.priority - a.priority || a.runAt - b.runAt || a.seq - b.seq || byFileName(a.item, b.item)
}

/** Runs that are claimed ahead of time are ordered by their instant only. */
function byInstant(a: Candidate, b: Candidate): number {
  return a.runAt - b.runAt || (a.item.id < b.item.id ? -1 : 1)
}

async function candidatesOf(
  store: Store | undefined,
  queue: QueueAt,
  now: Instant,
): Promise<readonly Candidate[]> {
  const filed = queueRuns(queue, now, ['pending', 'running'])
  const runs =
    store === undefined ? [] : [...(await allRuns(store, 'pending')), ...(await allRuns(store, 'running'))]
  const known = new Set(runs.map(({ id }) => id))
  const fresh = filed.filter((run) => !known.has(run.id) && isImported(run, now)).map(freshCandidate)
  if (store === undefined) return fresh
  const seqs = new Map(filed.map(({ id, seq }) => [id, seq]))
  const view = await viewOf(store, now)
  return [...runs.flatMap((run) => knownCandidate(run, view, seqs.get(run.id))), ...fresh]
}

/** Whether a worker would import a file. */
function isImported({ state, heldUntil }: FiledRun, now: Instant): boolean {
  return state === 'pending' || heldUntil <= now
}

function freshCandidate(run: FiledRun): Candidate {
  return { item: run, runAt: run.dueAt, priority: 0, seq: Infinity, heldBy: undefined }
}

interface View {
  readonly now: Instant
  readonly jobs: ReadonlyMap<string, Job>
  readonly live: ReadonlySet<string>
  readonly paused: ReadonlySet<string>
}

async function viewOf(store: Store, now: Instant): Promise<View> {
  const guard = await ClockGuard.open(store, systemClock, { acceptClock: true, history: 'read' })
  const forMs = guard.steadyMs()
  const workers = (await store.workers()).filter(
    ({ leaseUntil, lastBeatAt = leaseUntil }) => leaseUntil >= now || leaseUntil - lastBeatAt >= forMs,
  )
  const holds = await store.holds({ openAt: now })
  return {
    now,
    jobs: new Map((await store.jobs()).map(({ job }) => [job.name, job])),
    live: new Set(workers.map(({ id }) => id)),
    paused: new Set(holds.flatMap(({ target }) => (target.startsWith('queue:') ? [target.slice(6)] : []))),
  }
}

function knownCandidate(run: Run, { now, jobs, live, paused }: View, seq = Infinity): Candidate[] {
  const job = jobs.get(run.job)
  const isLost =
    run.state === 'running' && !live.has(run.worker ?? '') && run.crashes + 1 < (job?.maxCrashes ?? 0)
  if (run.state !== 'pending' && !isLost) return []
  const runAt = isLost ? Math.min(run.dueAt, now) : run.runAt
  return [{ item: itemOf(run), runAt, priority: run.priority, seq, heldBy: heldBy(run, job, paused) }]
}

function heldBy(run: Run, job: Job | undefined, paused: ReadonlySet<string>): string | undefined {
  const isPerformed = run.job === pipelineJob || (job !== undefined && job.handler.kind !== 'function')
  if (!isPerformed) return `this process has no handler for job ${run.job}`
  if (job !== undefined && paused.has(job.queue)) return `the queue ${job.queue} is paused`
  return run.waitsFor === undefined
    ? undefined
    : `${run.labels?.['run_id'] ?? run.id} waits for ${run.waitsFor}`
}
