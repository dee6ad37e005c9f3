/**
 * A run as a file of a queue folder. First the keys that other programs know, then one key `rota` with everything
 * that only this store needs, then the keys that another program added.
 */
import type { Phase } from '../../../kernel/run/fact.js'
import type { Json } from '../../../kernel/definition/json.js'
import type { Attempt } from '../../../kernel/run/run.js'
import { queueErrorOf } from '../../../kernel/job/pipeline.js'
import { formatInstant, parseInstant } from '../../../time/instant.js'
import { stateOf, type Mutable, type RunRow, type WorkerRow } from '../../memory/tables.js'
import { payloadOf, type QueueFolder } from '../../../formats/queue-file.js'
import { instant, instantOf, optionalInstant, rowFormat, textOf } from './row-format.js'

/** The content of a queue file. */
export type RunFile = Readonly<Record<string, unknown>> & { readonly rota: OwnKeys }

/** What only this store needs; instants are text where people may want to read them. */
type OwnKeys = ReturnType<typeof ownKeysOf> & {
  /** Layout 1 wrote this instead of `follow`. */
  readonly chained?: true
}

/** The keys that this store writes; all others belong to other programs. */
const ownWords: ReadonlySet<string> = new Set([
  'schema_version',
  'job_id',
  'created_at',
  'scheduled_for',
  'pipeline_path',
  'run_id',
  'params',
  'status',
  'attempts',
  'last_error',
  'run_at',
  'started_at',
  'claimed_by',
  'lease_until',
  'finished_at',
  'rota',
])

/** Formats a run; `worker` is the worker that performs it. */
export function toRunFile(
  row: RunRow,
  others: { worker: WorkerRow | undefined; extra: Readonly<Record<string, unknown>> },
): RunFile {
  const { pipelinePath, params } = paramsOf(row.payload)
  const state = stateOf(row.phase)
  return {
    schema_version: 'v1',
    job_id: row.labels?.['job_id'] ?? row.id,
    created_at: formatInstant(row.createdAt),
    scheduled_for: formatInstant(row.dueAt),
    pipeline_path: pipelinePath,
    run_id: row.labels?.['run_id'] ?? row.id,
    params,
    status: state === 'cancelled' ? 'failed' : state,
    attempts: row.attempt,
    last_error: lastErrorOf(row),
    run_at: state === 'pending' && row.runAt !== row.dueAt ? formatInstant(row.runAt) : undefined,
    started_at: textOf(row.startedAt ?? (state === 'running' ? row.claimedAt : undefined)),
    ...(state === 'running' && holderOf(others.worker)),
    finished_at: textOf(row.finishedAt),
    rota: ownKeysOf(row),
    ...others.extra,
  }
}

/** Parses a run that this store wrote. */
export function fromRunFile(file: RunFile): RunRow {
  const { rota } = file
  const attempts = rota.tries?.map((entry) => ({ run: rota.id, ...attemptFormat.read(entry) })) ?? []
  return {
    seq: rota.seq,
    phase: rota.phase,
    id: rota.id,
    job: rota.job,
    origin: rota.origin,
    trigger: rota.trigger,
    version: rota.version,
    dueAt: parseInstant(String(file['scheduled_for'])),
    runAt: parseInstant(rota.run_at),
    priority: rota.priority,
    partition: rota.partition,
    payload: payloadOf(file),
    slots: rota.gates ?? [],
    endEffect: rota.follow ?? (rota.chained === true ? 'chain' : undefined),
    uniqueKey: rota.unique_key,
    uniqueUntil: instantOf(rota.unique_until),
    attempt: rota.attempt,
    failures: rota.failures,
    crashes: rota.crashes,
    worker: rota.worker,
    waitsFor: rota.waits_for,
    cancelRequested: rota.cancel_requested ?? false,
    createdAt: parseInstant(String(file['created_at'])),
    claimedAt: instantOf(rota.claimed_at),
    startedAt: attempts.at(-1)?.startedAt,
    finishedAt: instantOf(file['finished_at']),
    result: rota.result,
    error: rota.error,
    reason: rota.reason,
    labels: rota.labels,
    attempts,
    log: undefined,
  }
}

/** The folder of a run's file. */
export function folderOf(phase: Phase): QueueFolder {
  const state = stateOf(phase)
  return state === 'cancelled' ? 'failed' : state
}

/** The keys of a file that belong to other programs. */
export function extraOf(file: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const unknown = Object.keys(file).filter((key) => !ownWords.has(key))
  return unknown.length === 0 ? noExtra : Object.fromEntries(unknown.map((key) => [key, file[key]]))
}

const noExtra: Readonly<Record<string, unknown>> = {}

function paramsOf(payload: Json | undefined): { pipelinePath: string | null; params: Json } {
  if (!isObject(payload)) return { pipelinePath: null, params: null }
  const { pipeline_path: path, params } = payload
  const isPipeline = typeof path === 'string' && isObject(params) && Object.keys(payload).length === 2
  return isPipeline ? { pipelinePath: path, params } : { pipelinePath: null, params: payload }
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function lastErrorOf(row: RunRow): Json {
  if (row.phase === 'cancelled') return { code: 'cancelled', message: row.reason ?? 'cancelled' }
  return row.error === undefined ? null : { ...queueErrorOf(row.error) }
}

function holderOf(worker: WorkerRow | undefined): Record<string, unknown> {
  if (worker === undefined) return {}
  return { claimed_by: `${worker.host}:${worker.pid}`, lease_until: formatInstant(worker.leaseUntil) }
}

/** No table of fields, here and in `fromRunFile`: it would take twice as long, for every run of the history. */
function ownKeysOf(row: RunRow) {
  const tries = row.attempts.map((attempt) => attemptFormat.write(attempt))
  return {
    id: row.id,
    job: row.job,
    origin: row.origin,
    trigger: row.trigger,
    version: row.version,
    phase: row.phase,
    run_at: formatInstant(row.runAt),
    priority: row.priority,
    attempt: row.attempt,
    failures: row.failures,
    crashes: row.crashes,
    partition: row.partition,
    payload: isObject(row.payload) ? undefined : row.payload,
    result: row.result,
    error: row.error,
    reason: row.reason,
    labels: row.labels,
    worker: row.worker,
    waits_for: row.waitsFor,
    cancel_requested: row.cancelRequested || undefined,
    claimed_at: textOf(row.claimedAt),
    gates: row.slots.length === 0 ? undefined : row.slots,
    follow: row.endEffect,
    unique_key: row.uniqueKey,
    unique_until: textOf(row.uniqueUntil),
    tries: tries.length === 0 ? undefined : tries,
    seq: row.seq,
  }
}

/** An attempt without the id of its run. */
const attemptFormat = rowFormat<Mutable<Attempt>>()({
  attempt: 'attempt',
  worker: 'worker',
  claimed_at: ['claimedAt', instant],
  started_at: ['startedAt', optionalInstant],
  ended_at: ['endedAt', optionalInstant],
  end: 'end',
  error: 'error',
})
