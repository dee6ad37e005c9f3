import type { RunId } from '../../kernel/identity/identity.js'
import { isFinal, quarantinedReason, removedReason, type NewRun } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import type { ChangeRuns, RunChange, RunsOfChange } from '../change-runs.js'
import type { Beat, Enqueued, Expiry, Finished, LostClaim, Turn, TurnAnswer, WorkerEntry } from '../port.js'
import { claimRuns } from './claims.js'
import { copyJson } from './json-copy.js'
import {
  insertRun,
  placePending,
  makeFinal,
  makePending,
  promote,
  uncountCrash,
  uniqueSlot,
} from './run-moves.js'
import { applyBurst } from './policies/burst.js'
import { areCurrent, writeStateEntry } from './state.js'
import { byId, jobOf, noteTime, stateOf, type RunRow, type Tables, type WorkerRow } from './tables.js'

/** Inserts runs; an existing run with the same id or unique key is returned instead. */
export function enqueue(tables: Tables, request: { runs: readonly NewRun[]; now: Instant }): Enqueued[] {
  noteTime(tables, request.now)
  return request.runs.map((run) => {
    const taken =
      tables.runs.get(run.id) ??
      (run.burst === undefined ? uniqueHolder : applyBurst)(tables, run, request.now)
    if (taken !== undefined) return { id: taken.id, created: false }
    return { id: run.id, created: insertRun(tables, run, request.now) }
  })
}

/** Adds a worker, or changes its slots. One that was declared gone stays gone, since its runs may belong to others. */
export function register(tables: Tables, worker: WorkerEntry): void {
  const known = tables.workers.get(worker.id)
  if (known !== undefined) {
    known.slots = worker.slots
    tables.touched?.workers.add(known)
    return
  }
  const leaseUntil = worker.now + worker.leaseMs
  const { replaces = '', ...entry } = worker
  const { roles = ['worker'], slots } = entry
  const isDraining = tables.workers.get(replaces)?.isDraining ?? false
  const fresh = { lastBeatAt: worker.now, isDraining, isGone: false, running: new Set<RunRow>() }
  const row: WorkerRow = { ...entry, roles, slots, ...fresh, leaseUntil, notices: [] }
  tables.workers.set(worker.id, row)
  tables.touched?.workers.add(row)
}

/** Renews a lease unless the worker was declared gone. */
export function heartbeat(tables: Tables, request: { worker: string; now: Instant; leaseMs: number }): Beat {
  noteTime(tables, request.now)
  tables.epoch++
  const worker = liveWorker(tables, request.worker)
  if (worker === undefined) return 'expired'
  // From the highest recorded time: a clock that was set back shortens no lease.
  worker.lastBeatAt = tables.highestAt
  worker.leaseUntil = tables.highestAt + request.leaseMs
  tables.touched?.workers.add(worker)
  return worker.isDraining ? 'draining' : 'alive'
}

/** Stops a worker from claiming runs, or lets it claim again. */
export function drain(
  tables: Tables,
  { worker: id, isDraining }: { worker: string; isDraining: boolean },
): 'changed' | 'already' | 'absent' {
  const worker = liveWorker(tables, id)
  if (worker === undefined) return 'absent'
  if (worker.isDraining === isDraining) return 'already'
  worker.isDraining = isDraining
  tables.touched?.workers.add(worker)
  return 'changed'
}

/** Declares a worker gone; its running runs are returned as lost by `expire`. */
export function retire(tables: Tables, request: { worker: string }): void {
  const worker = tables.workers.get(request.worker)
  if (worker !== undefined) markGone(tables, worker)
}

/** One turn of a worker: stores its results, makes due runs ready, and claims what it requested. */
export function turn(tables: Tables, request: Turn): TurnAnswer {
  noteTime(tables, request.now)
  const finished = request.finished.map((item) => finish(tables, item, request.now))
  promote(tables, request.now)
  const notices = takeNotices(tables, request.worker)
  const { jobsRevision } = tables
  const worker = liveWorker(tables, request.worker)
  const expired = worker === undefined
  // A worker with an overdue heartbeat may be expired at any moment, and would lose what it claims now.
  const mayClaim = worker !== undefined && worker.leaseUntil >= request.now && !worker.isDraining
  const nextRunAt = tables.delayed.first?.runAt ?? Infinity
  const { claims, more, nextStartAt = Infinity } = mayClaim ? claimRuns(tables, request) : nothingClaimed
  const next = Math.min(nextRunAt, nextStartAt)
  return {
    expired,
    finished,
    claims,
    more,
    nextRunAt: next === Infinity ? undefined : next,
    notices,
    jobsRevision,
  }
}

const nothingClaimed: ReturnType<typeof claimRuns> = { claims: [], more: false }

/** Worker ids are never reused, so a worker that has been gone this long is not needed. */
const forgetMs = 7 * 24 * 3_600_000

/** Declares silent workers gone and returns the claims of all gone workers, oldest first. */
export function expire(tables: Tables, request: Expiry): LostClaim[] {
  const { deadline, limit, longestMs = Infinity } = request
  const lost: RunRow[] = []
  for (const worker of tables.workers.values()) {
    const isLapsed = worker.leaseUntil < deadline && leaseOf(worker) <= longestMs
    if (!worker.isGone && isLapsed) markGone(tables, worker)
    if (!worker.isGone) continue
    if (worker.running.size > 0) lost.push(...worker.running)
    else if (worker.leaseUntil < deadline - forgetMs) tables.workers.delete(worker.id)
  }
  const oldest = lost.toSorted((a, b) => (a.claimedAt ?? 0) - (b.claimedAt ?? 0) || byId(a, b))
  return oldest.slice(0, limit).map((row) => ({
    run: row.id,
    attempt: row.attempt,
    failures: row.failures,
    crashes: row.crashes,
    dueAt: row.dueAt,
    worker: row.worker ?? '',
    job: jobOf(tables, row.job),
  }))
}

function leaseOf({ leaseUntil, lastBeatAt }: WorkerRow): number {
  return lastBeatAt === undefined ? assumedLeaseMs : leaseUntil - lastBeatAt
}

/** The lease of a worker whose release did not record its last heartbeat. */
const assumedLeaseMs = 30_000

/** Cancels a pending run, or asks the worker of a running one to stop. */
export function cancel(
  tables: Tables,
  request: { run: RunId; now: Instant; reason: string },
): 'cancelled' | 'requested' | 'final' | 'absent' {
  const row = tables.runs.get(request.run)
  if (row === undefined) return 'absent'
  const state = stateOf(row.phase)
  if (isFinal(state)) return 'final'
  if (state === 'running') {
    requestCancel(tables, row, request.reason)
    return 'requested'
  }
  makeFinal(tables, row, { state: 'cancelled', at: request.now, reason: request.reason })
  return 'cancelled'
}

/** Asks the worker of a running run to stop, once. */
export function requestCancel(tables: Tables, row: RunRow, reason: string): void {
  // The removal of a trigger does not ask its worker to stop.
  if (row.cancelRequested && row.reason !== removedReason) return
  row.cancelRequested = true
  row.reason = reason
  tables.touched?.runs.add(row)
  notifyWorker(tables, row, 'cancel')
}

/** Queues a notice for the worker of a run. */
export function notifyWorker(tables: Tables, row: RunRow, kind: 'cancel' | 'terminate'): void {
  const worker = tables.workers.get(row.worker ?? '')
  if (worker === undefined) return
  worker.notices.push({ run: row.id, attempt: row.attempt, kind })
  tables.touched?.workers.add(worker)
}

/** Makes a failed or cancelled run pending again, with all its tries. */
export function retry(
  tables: Tables,
  request: { run: RunId; now: Instant },
): 'pending' | 'not-final' | 'absent' {
  const row = tables.runs.get(request.run)
  if (row === undefined) return 'absent'
  if (row.phase !== 'failed' && row.phase !== 'cancelled') return 'not-final'
  row.failures = 0
  row.crashes = 0
  row.cancelRequested = false
  row.error = undefined
  row.reason = undefined
  makePending(tables, row, { runAt: request.now, now: request.now })
  return 'pending'
}

/** Makes a delayed run claimable before its `runAt`. */
export function advance(
  tables: Tables,
  request: { run: RunId; now: Instant },
): 'advanced' | 'not-waiting' | 'absent' {
  const row = tables.runs.get(request.run)
  if (row === undefined) return 'absent'
  if (row.phase !== 'delayed' || row.runAt <= request.now) return 'not-waiting'
  tables.delayed.delete(row)
  row.runAt = request.now
  row.reason = undefined
  placePending(tables, row, request.now)
  return 'advanced'
}

function uniqueHolder(tables: Tables, run: NewRun, now: Instant): RunRow | undefined {
  if (run.uniqueKey === undefined) return undefined
  // A retry may have given the key to a second run; every store returns the one that was inserted first.
  const holders = [...(tables.unique.get(uniqueSlot(run.job, run.uniqueKey)) ?? [])]
  for (const row of holders.toSorted((one, other) => one.seq - other.seq)) {
    if (!isFinal(stateOf(row.phase)) || (row.uniqueUntil ?? now) > now) return row
  }
  return undefined
}

function markGone(tables: Tables, worker: WorkerRow): void {
  if (worker.isGone) return
  worker.isGone = true
  tables.touched?.workers.add(worker)
}

function liveWorker(tables: Tables, id: string): WorkerRow | undefined {
  const worker = tables.workers.get(id)
  return worker?.isGone === false ? worker : undefined
}

function takeNotices(tables: Tables, id: string): TurnAnswer['notices'] {
  const worker = tables.workers.get(id)
  if (worker === undefined || worker.notices.length === 0) return []
  const notices = worker.notices
  worker.notices = []
  tables.touched?.workers.add(worker)
  return notices
}

/** Fencing: only the newest attempt of a running run may store a result. */
function finish(tables: Tables, item: Finished, now: Instant): 'stored' | 'stale' {
  const row = tables.runs.get(item.run)
  if (row === undefined) return 'stale'
  if (row.phase !== 'running' || row.attempt !== item.attempt) {
    if (item.outcome.end !== 'lost') revokeCrash(tables, row, { attempt: item.attempt, now })
    return 'stale'
  }
  const { outcome, endedAt } = item
  // Without spreads, which would cost more than the rest.
  closeAttempt(row, { end: outcome.end, error: outcome.error, startedAt: item.startedAt, endedAt })
  if (outcome.end === 'failed' || outcome.end === 'timed-out') row.failures++
  if (outcome.end === 'lost') row.crashes++
  row.startedAt = item.startedAt
  row.result = copyJson(outcome.result)
  row.error = outcome.error
  if (outcome.state !== 'pending') {
    const asked = outcome.state === 'cancelled' ? row.reason : undefined
    makeFinal(tables, row, { state: outcome.state, at: endedAt, reason: outcome.reason ?? asked })
  } else if (row.cancelRequested) {
    // The cancellation was acknowledged, so the run is not retried.
    makeFinal(tables, row, { state: 'cancelled', at: endedAt, reason: row.reason })
  } else {
    row.reason = outcome.reason
    makePending(tables, row, { runAt: outcome.runAt ?? now, now })
  }
  return 'stored'
}

/** A late report proves that the worker is alive: it only lost its lease, which does not count as a crash. */
function revokeCrash(tables: Tables, row: RunRow, late: { attempt: number; now: Instant }): void {
  const attempt = row.attempts.find((each) => each.attempt === late.attempt)
  if (attempt?.end !== 'lost') return
  attempt.end = 'released'
  attempt.error = undefined
  uncountCrash(tables, row)
  if (row.phase !== 'failed' || row.reason !== quarantinedReason || row.attempt !== late.attempt) return
  row.error = undefined
  row.reason = undefined
  makePending(tables, row, { runAt: late.now, now: late.now })
}

/** Closes the open attempt of a run. */
export function closeAttempt(
  row: RunRow,
  end: Pick<Finished['outcome'], 'end' | 'error'> & Pick<Finished, 'endedAt' | 'startedAt'>,
): void {
  const attempt = row.attempts.at(-1)
  if (attempt === undefined) return
  attempt.startedAt = end.startedAt
  attempt.endedAt = end.endedAt
  attempt.end = end.end
  attempt.error = end.error
}

/** Changes runs together with the state entry that counts them, or nothing if that entry has changed. */
export function changeRuns(tables: Tables, request: ChangeRuns): readonly RunChange[] | 'stale' {
  const { now, entry } = request
  const { kind, name, item, revision, valueAfter } = entry
  if (!areCurrent(tables, [{ kind, name, item, revision, value: undefined }])) return 'stale'
  const answers = changeEach(tables, request, now)
  writeStateEntry(tables, { kind, name, item, value: valueAfter(answers) }, now)
  return answers
}

function changeEach(tables: Tables, change: RunsOfChange, now: Instant): readonly RunChange[] {
  if (change.action === 'record')
    return enqueue(tables, { runs: change.newRuns, now }).map(({ created }) =>
      created ? 'recorded' : 'existing',
    )
  const { action, runs, reason } = change
  return runs.map((run): RunChange => {
    if (action === 'cancel') return cancel(tables, { run, now, reason })
    return (action === 'retry' ? retry : advance)(tables, { run, now })
  })
}
