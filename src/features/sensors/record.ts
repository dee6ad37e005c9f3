import type { Instant } from '../../time/instant.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StateChange, StateKey } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'

/** The record of a sensor: its state, its counters and its newest evaluation. Stored in one state entry. */
export type SensorRecord = {
  /** Whether its init has succeeded, so that there is a state. */
  readonly isInitialized: boolean
  /** The state that it returned last. */
  readonly state: Json
  /** Increases with every reset: a poll that began before a reset must not be written after it. */
  readonly generation: number
  readonly polls: number
  /** How many observations became runs. */
  readonly found: number
  /** How many polls in a row failed. */
  readonly failures: number
  /** How many polls in a row had more to read. */
  readonly pages: number
  readonly lastPollAt: Instant | null
  readonly lastSuccessAt: Instant | null
  readonly lastFoundAt: Instant | null
  /** How late its last poll began. */
  readonly lagMs: number
  /** The newest evaluation; the older ones are state entries of their own. */
  readonly last: Evaluation | null
}

/** The result of one poll or delivery; equal consecutive ones are stored as one. */
export type Evaluation = {
  /** Increases; old evaluations are deleted. */
  readonly number: number
  readonly kind: 'trigger' | 'no-trigger' | 'error' | 'delivered'
  /** Why nothing was found, or what went wrong. */
  readonly reason: string | null
  readonly fromAt: Instant
  readonly untilAt: Instant
  /** How many polls or deliveries it stands for. */
  readonly count: number
  readonly observations: number
  /** How many of them were new and became runs. */
  readonly fresh: number
  /** How long the newest poll took. */
  readonly tookMs: number
  /** Whether it found nothing so far and has more to read, such as a sweep over many polls. */
  readonly more?: boolean
}

/** A poll in progress: its owner, and until when no other process polls. */
export type OpenPoll = {
  readonly id: string
  readonly sinceAt: Instant
  readonly untilAt: Instant
}

/** How many evaluations of a sensor are kept. */
export const keptEvaluations = 200

/** The record of a sensor that was never polled. */
const emptyRecord: SensorRecord = {
  isInitialized: false,
  state: null,
  generation: 0,
  polls: 0,
  found: 0,
  failures: 0,
  pages: 0,
  lastPollAt: null,
  lastSuccessAt: null,
  lastFoundAt: null,
  lagMs: 0,
  last: null,
}

/** The state entry of the record of a sensor. */
export function recordKey(name: string): StateKey {
  return { kind: 'sensor', name, item: '' }
}

/** The state entry of a poll in progress. */
export function openPollKey(name: string): StateKey {
  return { kind: 'sensor', name, item: 'poll' }
}

/** The stored parts of a sensor, each with the revision with which a change is compared. */
export interface StoredRecord {
  readonly record: SensorRecord
  readonly recordRevision: number
  readonly open: OpenPoll | undefined
  readonly openRevision: number
}

/** Reads the stored parts of sensors; the result returns them by name. */
export async function readRecords(
  store: Pick<Store, 'stateEntries'>,
  names: readonly string[],
): Promise<(name: string) => StoredRecord> {
  const items = [recordKey('').item, openPollKey('').item]
  const limit = names.length * items.length
  const entries = limit === 0 ? [] : await store.stateEntries({ kind: 'sensor', names, items, limit })
  const byKey = new Map(entries.map((entry) => [`${entry.name} ${entry.item}`, entry]))
  return (name) => {
    const [record, open] = items.map((item) => byKey.get(`${name} ${item}`))
    return {
      record: recordOf(record?.value),
      recordRevision: record?.revision ?? 0,
      open: open?.value as OpenPoll | undefined,
      openRevision: open?.revision ?? 0,
    }
  }
}

/** The record in a stored value; missing fields get the values of a sensor that was never polled. */
export function recordOf(value: Json | undefined): SensorRecord {
  return { ...emptyRecord, ...(value as Partial<SensorRecord> | undefined) }
}

/** An evaluation that is not yet in a record. */
export type NewEvaluation = Omit<Evaluation, 'number' | 'count' | 'fromAt'>

/** Adds an evaluation to a record; the previous newest one gets its own state entry. */
export function addEvaluation(
  name: string,
  record: SensorRecord,
  evaluation: NewEvaluation,
): { readonly record: SensorRecord; readonly stateChanges: readonly StateChange[] } {
  const { last } = record
  if (last !== null && isSame(last, evaluation))
    return { record: { ...record, last: merged(last, evaluation) }, stateChanges: [] }
  const first = { ...evaluation, fromAt: evaluation.untilAt, number: (last?.number ?? 0) + 1, count: 1 }
  const next = { ...record, last: first }
  if (last === null) return { record: next, stateChanges: [] }
  const item = String(last.number % keptEvaluations).padStart(3, '0')
  return { record: next, stateChanges: [{ kind: 'evaluation', name, item, value: last }] }
}

/** Whether an evaluation is merged with the previous one: both found nothing, failed in the same way, are deliveries, or are polls of one sweep. */
function isSame(last: Evaluation, next: NewEvaluation): boolean {
  if (next.kind === 'trigger' || last.kind !== next.kind) return false
  return last.reason === next.reason || last.more === true
}

function merged(last: Evaluation, next: NewEvaluation): Evaluation {
  return {
    ...last,
    more: next.more ?? false,
    reason: next.reason,
    untilAt: next.untilAt,
    count: last.count + 1,
    observations: last.observations + next.observations,
    fresh: last.fresh + next.fresh,
    tookMs: next.tookMs,
  }
}
