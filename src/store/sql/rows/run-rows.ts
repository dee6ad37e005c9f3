import type { Hold, HoldTarget } from '../../../kernel/hold/hold.js'
import type { Json } from '../../../kernel/definition/json.js'
import type { LedgerReason, LedgerRule, RecordedRange } from '../../../kernel/ledger/ledger.js'
import {
  chainCodes,
  endEffectNamed,
  type EndEffect,
  type EndEffects,
} from '../../../kernel/run/end-effect.js'
import type { ConcurrencySlot, Labels, Run, RunOrigin, StoredError } from '../../../kernel/run/run.js'
import { isParked, running, stateName } from './states.js'

/** A run's row, with the id of its worker. */
export interface RunRow {
  readonly seq: number
  readonly id: string
  readonly job: string
  readonly state: number
  readonly priority: number
  readonly run_at: number
  readonly due_at: number
  readonly attempt: number
  readonly failures: number
  readonly crashes: number
  readonly worker: number | null
  readonly worker_id: string | null
  readonly claimed_at: number | null
  readonly started_at: number | null
  readonly finished_at: number | null
  readonly created_at: number
  readonly origin: number
  readonly trigger: string | null
  readonly version: number | null
  readonly partition: string | null
  readonly gates: string | null
  readonly waits_for: string | null
  readonly follow: number | null
  readonly cancel_requested: number | null
  readonly unique_key: string | null
  readonly labels: string | null
  readonly reason: string | null
  readonly payload: string | null
  readonly result: string | null
  readonly error: string | null
}

/** A hold's row. */
export interface HoldRow {
  readonly id: number
  readonly target: string
  readonly from_at: number
  readonly until_at: number | null
  readonly actor: string
  readonly note: string
  readonly catch_up: number
}

/** A ledger range's row. */
export interface RangeRow {
  readonly seq: number
  readonly trigger: string
  readonly first_at: number
  readonly last_at: number
  readonly version: number
  readonly reason: string
  readonly rule: string
  readonly blocker: string | null
  readonly detail: string | null
  readonly recorded_at: number
}

const origins: readonly RunOrigin[] = [
  'trigger',
  'enqueue',
  'manual',
  'sensor',
  'round',
  'upstream',
  'backfill',
]

/** 1 for runs of a backfill and 0 for others, exactly as in the index runs_unfinished. */
export const OF_BACKFILL = `(case origin when ${origins.indexOf('backfill')} then 1 else 0 end)`

/** The codes of chain effects, for a condition. */
export const chainCodeList = chainCodes.join(', ')

/** The code of an end effect in a row. */
export function endEffectCode(effects: EndEffects, name: string | undefined): number | null {
  return name === undefined ? null : endEffectNamed(effects, name).code
}

/** The end effect of a run, by the code in its row. */
export function endEffectOf(effects: EndEffects, code: number | null): EndEffect | undefined {
  if (code === null) return undefined
  for (const effect of effects.values()) if (effect.code === code) return effect
  return undefined
}

/** The code of an origin in a row. */
export function originCode(origin: RunOrigin): number {
  return origins.indexOf(origin)
}

/** Converts a row to the run that users see. */
export function runOf(row: RunRow): Run {
  return {
    id: row.id,
    job: row.job,
    origin: origins[row.origin] as RunOrigin,
    trigger: orUndefined(row.trigger),
    version: orUndefined(row.version),
    dueAt: row.due_at,
    runAt: row.run_at,
    state: stateName(row.state),
    priority: row.priority,
    partition: orUndefined(row.partition),
    payload: fromJson(row.payload),
    uniqueKey: orUndefined(row.unique_key),
    attempt: row.attempt,
    failures: row.failures,
    crashes: row.crashes,
    worker: row.state === running ? orUndefined(row.worker_id) : undefined,
    // A copy, since it gets into the hands of users.
    slots: slotsOf(row.gates).map((slot) => ({ ...slot })),
    waitsFor: isParked(row.waits_for) ? undefined : orUndefined(row.waits_for),
    cancelRequested: row.cancel_requested === 1,
    createdAt: row.created_at,
    claimedAt: orUndefined(row.claimed_at),
    startedAt: orUndefined(row.started_at),
    finishedAt: orUndefined(row.finished_at),
    result: fromJson(row.result),
    error: errorOf(row.error),
    reason: orUndefined(row.reason),
    labels: fromJson(row.labels) as Labels | undefined,
  }
}

/** The slots that were parsed last: runs of one limit, which are processed together, have the same text. */
let parsed: { readonly text: string; readonly slots: readonly ConcurrencySlot[] } = { text: '[]', slots: [] }

/** Parses the concurrency slots in a row. */
export function slotsOf(text: string | null): readonly ConcurrencySlot[] {
  if (text === null) return []
  if (text !== parsed.text) {
    const pairs = JSON.parse(text) as [string, number][]
    parsed = { text, slots: pairs.map(([key, limit]) => ({ key, limit })) }
  }
  return parsed.slots
}

/** Converts a row to a hold. */
export function holdOf(row: HoldRow): Hold {
  return {
    id: row.id,
    target: row.target as HoldTarget,
    fromAt: row.from_at,
    untilAt: orUndefined(row.until_at),
    actor: row.actor,
    note: row.note,
    catchUp: row.catch_up === 1,
  }
}

/** Converts a row to a ledger range. */
export function rangeOf(row: RangeRow): RecordedRange {
  return {
    trigger: row.trigger,
    version: row.version,
    firstAt: row.first_at,
    lastAt: row.last_at,
    reason: row.reason as LedgerReason,
    rule: row.rule as LedgerRule,
    blocker: orUndefined(row.blocker),
    detail: orUndefined(row.detail),
    recordedAt: row.recorded_at,
  }
}

/** Parses a stored error, if there is one. */
export function errorOf(text: string | null): StoredError | undefined {
  return text === null ? undefined : (JSON.parse(text) as StoredError)
}

/** Formats a value for a JSON column; only undefined becomes null. */
export function toJson(value: Json | StoredError | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

/** Parses a JSON column. */
export function fromJson(text: string | null): Json | undefined {
  return text === null ? undefined : (JSON.parse(text) as Json)
}

/** Converts SQL null to undefined. */
export function orUndefined<T>(value: T | null): T | undefined {
  return value === null ? undefined : value
}
