/*
 * Facts as the values of a row, each next to its columns.
 */
import type { RunFact, TriggerFact, WorkerFact } from '../../../kernel/run/fact.js'
import type { Hold } from '../../../kernel/hold/hold.js'
import type { Attempt } from '../../../kernel/run/run.js'
import { originCode, toJson } from '../rows/run-rows.js'
import { done, phases } from '../rows/states.js'
import { chainMs, tickingCode } from '../rows/trigger-values.js'

/** The columns of `workerValues`. */
export const WORKER_COLUMNS = `id, host, pid, version, roles, slots, started_at, beat_at, lease_until, is_draining, phase`

/** A worker's row. */
export function workerValues(worker: WorkerFact) {
  const { id, host, pid, version, slots = null, startedAt, lastBeatAt = null, leaseUntil } = worker
  const process = [id, host, pid, version, worker.roles.join(), slots] as const
  const marks = [worker.isDraining ? 1 : 0, worker.isGone ? 1 : 0] as const
  return [...process, startedAt, lastBeatAt, leaseUntil, ...marks] as const
}

/** The columns of `holdValues`. */
export const HOLD_COLUMNS = `id, target, from_at, until_at, actor, note, catch_up, is_released`

/** A hold's row. */
export function holdValues(hold: Hold, isReleased: boolean) {
  const { id, target, fromAt, untilAt = null, actor, note, catchUp } = hold
  return [id, target, fromAt, untilAt, actor, note, catchUp ? 1 : 0, isReleased ? 1 : 0] as const
}

/** The columns of `triggerFactValues`. */
export const TRIGGER_FACT_COLUMNS = `name, source, job, fingerprint, version, revision, defined_at, cursor_at, next_at,
  kept_at, chain_run, chain_ms, is_active, is_ticking`

/** A trigger's row. */
export function triggerFactValues(fact: TriggerFact) {
  const { trigger, source, fingerprint, version, revision, definedAt, cursorAt, active } = fact
  const { nextAt = null, keptAt = null, chainRun = null } = fact
  const definition = [trigger.name, source, trigger.job, fingerprint, version, revision] as const
  const chain = [chainRun, chainMs(trigger)] as const
  const marks = [active ? 1 : 0, active ? tickingCode(trigger) : 0] as const
  return [...definition, definedAt, cursorAt, nextAt, keptAt, ...chain, ...marks] as const
}

/** The columns of `runValues`; `worker` is given by its id. */
export const RUN_COLUMNS = `id, job, state, priority, run_at, due_at, attempt, failures, crashes, worker, claimed_at,
  started_at, finished_at, created_at, origin, trigger, version, partition, gates, waits_for, follow, cancel_requested,
  unique_key, unique_until, labels, reason, payload, result, error`

/** A run's row; its concurrency slots and the number of its end effect as the adapter writes them. */
export function runValues(run: RunFact, { gates, effect }: { gates: string | null; effect: number | null }) {
  return [
    run.id,
    run.job,
    phases.indexOf(run.phase),
    run.priority,
    run.runAt,
    run.dueAt,
    run.attempt,
    run.failures,
    run.crashes,
    workerOf(run) ?? null,
    run.claimedAt ?? null,
    run.startedAt ?? null,
    run.finishedAt ?? null,
    run.createdAt,
    originCode(run.origin),
    run.trigger ?? null,
    run.version ?? null,
    run.partition ?? null,
    gates,
    run.waitsFor ?? null,
    effect,
    run.cancelRequested ? 1 : null,
    run.uniqueKey ?? null,
    run.uniqueUntil ?? null,
    toJson(run.labels),
    run.reason ?? null,
    toJson(run.payload),
    toJson(run.result),
    toJson(run.error),
  ] as const
}

/** The row of a run that is done names the worker of its only attempt. */
function workerOf(run: RunFact): string | undefined {
  return run.worker ?? (livesInRow(run, run.attempts.at(-1)) ? run.attempts.at(-1)?.worker : undefined)
}

/** The columns of `attemptRows`, after the run's own; `worker` is given by its id. */
export const ATTEMPT_COLUMNS = `attempt, worker, claimed_at, started_at, ended_at, ended, error`

/** The rows of a run's attempts that are not stored in the run's own row. */
export function attemptRows(run: RunFact) {
  const recorded = run.attempts.filter((attempt) => attempt.end !== undefined && !livesInRow(run, attempt))
  return recorded.map(
    ({ attempt, worker = null, claimedAt, startedAt = null, endedAt = null, end, error }) => {
      return [attempt, worker, claimedAt, startedAt, endedAt, end ?? null, toJson(error)] as const
    },
  )
}

/** A first attempt that is done is stored in the row of its run. */
function livesInRow(run: RunFact, attempt: Attempt | undefined): boolean {
  return attempt?.end === 'done' && run.attempt === 1 && phases.indexOf(run.phase) === done
}
