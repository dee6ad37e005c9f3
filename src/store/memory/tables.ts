import { randomUUID } from 'node:crypto'
import type { StoredAuditEntry } from '../../kernel/audit/audit.js'
import type { HolderNotice, Phase } from '../../kernel/run/fact.js'
import type { Hold, HoldTarget } from '../../kernel/hold/hold.js'
import type { RunId } from '../../kernel/identity/identity.js'
import { jobDefaults, type Job, type Queue } from '../../kernel/job/job.js'
import type { JobRates } from '../../kernel/job/rate-limit.js'
import type { RecordedRange } from '../../kernel/ledger/ledger.js'
import type { LogUse } from '../../kernel/definition/bounds.js'
import type { StateEntry, StateKey } from '../../kernel/state/state-entry.js'
import { chainsOnly, type EndEffects } from '../../kernel/run/end-effect.js'
import type { Attempt, ConcurrencySlot, Run, RunState } from '../../kernel/run/run.js'
import type { SeenKey } from '../../kernel/tick/tick.js'
import type { StoredTrigger, TriggerVersion } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import type { StoredJob, StoredLogLine, WorkerEntry } from '../port.js'
import { OrderedSet } from './sets/ordered-set.js'
import { ReadyRuns } from './sets/ready-runs.js'

/** Everything a memory store knows, with indexes so that no method scans the history. */
export type Tables = ReturnType<typeof emptyTables>

/** How a store gives its verbs access to the tables. Each function runs to completion before another begins. */
export interface TableAccess {
  /** Reads only. */
  readonly read: <T>(ask: (tables: Tables) => T) => T | Promise<T>
  /** Writes without making anything due or claimable. */
  readonly change: <T>(apply: (tables: Tables) => T) => T | Promise<T>
  /** Writes what may make runs due or claimable, and notifies the watchers. */
  readonly write: <T>(apply: (tables: Tables) => T) => T | Promise<T>
}

/** The rows that a transaction has created, changed or removed. */
export type Touched = ReturnType<typeof nothingTouched>

/** A digest that a trigger remembers until an instant. */
export interface SeenRow {
  readonly trigger: string
  readonly digest: string
  readonly untilAt: Instant
}

/** The same type with writable properties. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** A run with the fields that only the store needs. */
export interface RunRow extends Mutable<Omit<Run, 'state'>> {
  /** The order of insertion. */
  readonly seq: number
  phase: Phase
  slots: readonly ConcurrencySlot[]
  /** The effect of its end on other rows. */
  endEffect: string | undefined
  readonly uniqueUntil: Instant | undefined
  attempts: Mutable<Attempt>[]
  log: RunLog | undefined
}

/** The log lines of a run, and how much of its size limit they use. */
export interface RunLog {
  use: LogUse
  readonly lines: StoredLogLine[]
}

/** A trigger with its versions. */
export interface TriggerRow extends Mutable<StoredTrigger> {
  fingerprint: string
  readonly versions: Mutable<TriggerVersion>[]
  /** The due instant of an after-finish trigger that is restored when its hold is released. */
  keptAt: Instant | undefined
}

/** The runs and ranges of one trigger. */
export interface TriggerRuns {
  readonly all: OrderedSet<RunRow>
  /** The runs of its due instants, by due instant; the others were started manually. */
  readonly own: OrderedSet<RunRow>
  readonly unfinished: OrderedSet<RunRow>
  readonly ranges: OrderedSet<RangeRow>
}

/** A range of the ledger, in the order in which it was recorded. */
export interface RangeRow extends RecordedRange {
  readonly seq: number
}

/** A hold, which may still be released. */
export interface HoldRow extends Mutable<Hold> {
  isReleased: boolean
}

/** A worker with its lease. */
export interface WorkerRow extends Omit<WorkerEntry, 'roles' | 'slots'> {
  readonly roles: readonly string[]
  slots: number | undefined
  lastBeatAt: Instant | undefined
  leaseUntil: Instant
  isDraining: boolean
  isGone: boolean
  readonly running: Set<RunRow>
  notices: HolderNotice[]
}

/** A concurrency limit in use. The limits of a job are read from its definition, so a change takes effect immediately. */
export interface SlotRow {
  readonly key: string
  readonly limit: () => number
  readonly job: string
  admitted: number
  readonly blocked: OrderedSet<RunRow>
}

/** The jobs that a worker requests, and the limits of those that have one. */
export interface AskedJobs {
  readonly names: ReadonlySet<string>
  readonly rates: ReadonlyMap<string, JobRates>
}

/** The number of unfinished and running runs of one job. */
export interface JobRuns {
  unfinished: number
  running: number
}

/** The tables of an empty store. */
export function emptyTables(endEffects: EndEffects = chainsOnly) {
  return {
    id: randomUUID() as string,
    /** What the ends of runs change. */
    endEffects,
    jobs: new Map<string, StoredJob>(),
    queues: new Map<string, Queue>(),
    /** What workers request, by their lists of jobs; kept until a job or queue changes. */
    asked: new WeakMap<readonly string[], AskedJobs>(),
    triggers: new Map<string, TriggerRow>(),
    /** Active, enabled triggers with a next tick, by it and then by name: triggers without a sensor, and sensors. */
    byNextTick: new OrderedSet(byNextTickAt),
    sensorsByNextTick: new OrderedSet(byNextTickAt),
    /** The triggers that follow an asset, by its name. */
    followers: new Map<string, Set<TriggerRow>>(),
    /** State entries by kind, name and item. */
    state: new OrderedSet<Mutable<StateEntry>>(byStateKey),
    stateByKey: new Map<string, Mutable<StateEntry>>(),
    /** The digests that each trigger remembers, and until when. */
    seen: new Map<string, Map<string, Instant | undefined>>(),
    /** Digests that expire, the first to expire first. */
    seenUntil: new OrderedSet(byEnd),
    holds: new Map<HoldTarget, HoldRow[]>(),
    /** Audit entries by id, oldest first. */
    audit: new Map<string, StoredAuditEntry>(),
    workers: new Map<string, WorkerRow>(),
    slots: new Map<string, SlotRow>(),
    runs: new Map<RunId, RunRow>(),
    runsById: new OrderedSet(byId),
    runsByTrigger: new Map<string, TriggerRuns>(),
    runsByJob: new Map<string, JobRuns>(),
    /** Ready runs without a slot, with slots, and those that lost an attempt, which no worker prefetches. */
    readyPlain: new ReadyRuns(byUrgency),
    readySlotted: new ReadyRuns(byUrgency),
    readyCrashed: new ReadyRuns(byUrgency),
    delayed: new OrderedSet<RunRow>((a, b) => a.runAt - b.runAt || a.seq - b.seq),
    final: new OrderedSet<RunRow>(byFinish),
    /** Runs that hold, or may hold, a unique key of a job. */
    unique: new Map<string, Set<RunRow>>(),
    counts: { pending: 0, running: 0, done: 0, failed: 0, cancelled: 0 },
    watchers: new Set<() => void>(),
    lastSeq: 0,
    jobsRevision: 0,
    lastHold: 0,
    lastAudit: 0,
    /** When the newest state entry was written. */
    newestState: { at: 0 as Instant, revisions: 0 },
    epoch: 0,
    highestAt: 0 as Instant,
    /** The watchers that are about to be notified. */
    hinting: new Set<() => void>(),
    /** What the current transaction has changed, in a store that writes changes to disk. */
    touched: undefined as Touched | undefined,
  }
}

/** The record of a transaction that has changed nothing yet. */
export function nothingTouched() {
  return {
    runs: new Set<RunRow>(),
    triggers: new Set<TriggerRow>(),
    workers: new Set<WorkerRow>(),
    holds: new Set<HoldRow>(),
    /** State entries by key; undefined for a removed one. */
    state: new Map<string, StateEntry | undefined>(),
    /** Digests that triggers remembered or forgot. */
    seen: new Map<string, (SeenKey | { digest: string; forgotten: true }) & { trigger: string }>(),
    /** Ranges by sequence number; undefined for a removed one. */
    ranges: new Map<number, RangeRow | undefined>(),
    /** Audit entries by id; undefined for a removed one. */
    audit: new Map<string, StoredAuditEntry | undefined>(),
    definitions: false,
  }
}

/** Adds a range to the ledger of its trigger. */
export function addRange(tables: Tables, range: RangeRow): void {
  runsOfTrigger(tables, range.trigger).ranges.add(range)
  tables.touched?.ranges.set(range.seq, range)
}

/** Removes a range from the ledger of its trigger. */
export function dropRange(tables: Tables, range: RangeRow): void {
  runsOfTrigger(tables, range.trigger).ranges.delete(range)
  tables.touched?.ranges.set(range.seq, undefined)
}

/** The state that users see. */
export function stateOf(phase: Phase): RunState {
  return phase === 'delayed' || phase === 'blocked' || phase === 'ready' ? 'pending' : phase
}

/** The order in which runs are admitted and claimed. */
export function byUrgency(a: RunRow, b: RunRow): number {
  return b.priority - a.priority || a.runAt - b.runAt || a.seq - b.seq
}

/** The order of final runs: by their ends. */
export function byFinish(a: RunRow, b: RunRow): number {
  return (a.finishedAt ?? 0) - (b.finishedAt ?? 0) || byId(a, b)
}

/** Orders by id. */
export function byId(a: RunRow, b: RunRow): number {
  return compareText(a.id, b.id)
}

/** Orders texts by their code units, as a database does. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** The definition of a job, or the defaults if it is not defined. */
export function jobOf(tables: Tables, name: string): Job {
  return tables.jobs.get(name)?.job ?? { ...jobDefaults, name }
}

/** Drops data derived from the jobs and queues, because some of them change. */
export function forgetDerived(tables: Tables): void {
  tables.asked = new WeakMap()
}

/** The runs and the ranges of a trigger. */
export function runsOfTrigger({ runsByTrigger }: Tables, trigger: string): TriggerRuns {
  return getOrAdd(runsByTrigger, trigger, () => ({
    all: new OrderedSet(byId),
    own: new OrderedSet((a: RunRow, b: RunRow) => a.dueAt - b.dueAt || byId(a, b)),
    unfinished: new OrderedSet(byId),
    ranges: new OrderedSet(byFirst),
  }))
}

/** The number of unfinished and running runs of a job. */
export function runsOfJob({ runsByJob }: Tables, job: string): JobRuns {
  return getOrAdd(runsByJob, job, () => ({ unfinished: 0, running: 0 }))
}

/** The value of a key, which is added if it is missing. */
export function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const fresh = make()
  map.set(key, fresh)
  return fresh
}

/** Keeps the highest instant that was written. */
export function noteTime(tables: Tables, now: Instant): void {
  tables.highestAt = Math.max(tables.highestAt, now)
}

/** Orders ranges by their first instant, then by the order in which they were recorded. */
export function byFirst(a: RangeRow, b: RangeRow): number {
  return a.firstAt - b.firstAt || a.seq - b.seq
}

/** Orders state entries by kind, name and item. */
export function byStateKey(a: StateKey, b: StateKey): number {
  return compareText(a.kind, b.kind) || compareText(a.name, b.name) || compareText(a.item, b.item)
}

function byEnd(a: SeenRow, b: SeenRow): number {
  return a.untilAt - b.untilAt || compareText(a.trigger, b.trigger) || compareText(a.digest, b.digest)
}

function byNextTickAt(a: TriggerRow, b: TriggerRow): number {
  return (a.nextAt ?? 0) - (b.nextAt ?? 0) || compareText(a.trigger.name, b.trigger.name)
}
