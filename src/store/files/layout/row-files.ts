/** The rows of a store other than runs, as people read them: one object per row, instants as text. */
import type { Job, Queue } from '../../../kernel/job/job.js'
import type { TriggerVersion } from '../../../kernel/trigger/trigger.js'
import type { HoldRow, Mutable, RangeRow, Tables, TriggerRow, WorkerRow } from '../../memory/tables.js'
import {
  instant,
  nullableInstant,
  optionalInstant,
  rowFormat,
  withDefault,
  type FileOf,
} from './row-format.js'

const triggerFormat = rowFormat<TriggerRow>()({
  source: 'source',
  active: 'active',
  cursor_at: ['cursorAt', instant],
  next_at: ['nextAt', nullableInstant],
  version: 'version',
  revision: 'revision',
  defined_at: ['definedAt', instant],
  chain_run: 'chainRun',
  kept_at: ['keptAt', optionalInstant],
  fingerprint: 'fingerprint',
  trigger: 'trigger',
})

const versionFormat = rowFormat<Mutable<TriggerVersion>>()({
  version: 'version',
  valid_from: ['validFrom', instant],
  valid_until: ['validUntil', nullableInstant],
  tzdata: 'tzdata',
  trigger: 'trigger',
})

/** A trigger: its definition, its cursor and its versions. */
export type TriggerFile = ReturnType<typeof toTriggerFile>

/** Formats a trigger. */
export function toTriggerFile(row: TriggerRow) {
  const versions = row.versions.map((version) => versionFormat.write(version))
  return { name: row.trigger.name, ...triggerFormat.write(row), versions }
}

/** Parses a trigger. */
export function fromTriggerFile(file: TriggerFile): TriggerRow {
  const versions = file.versions.map((version) => ({ name: file.name, ...versionFormat.read(version) }))
  return { ...triggerFormat.read(file), versions }
}

/** How a worker with its lease is written. */
export const workerFormat = rowFormat<Omit<WorkerRow, 'running'>>()({
  id: 'id',
  host: 'host',
  pid: 'pid',
  version: 'version',
  // Layouts before 3 have no roles, slots, heartbeats and draining.
  roles: ['roles', withDefault<readonly string[]>(['worker'])],
  slots: 'slots',
  started_at: ['now', instant],
  last_beat_at: ['lastBeatAt', optionalInstant],
  lease_until: ['leaseUntil', instant],
  lease_ms: 'leaseMs',
  draining: ['isDraining', withDefault(false)],
  gone: 'isGone',
  notices: 'notices',
})

/** A worker with its lease. */
export type WorkerFile = FileOf<typeof workerFormat>

/** How a line of `holds.jsonl` is written; the last line with an id is current. */
export const holdFormat = rowFormat<HoldRow>()({
  id: 'id',
  target: 'target',
  from_at: ['fromAt', instant],
  until_at: ['untilAt', nullableInstant],
  actor: 'actor',
  note: 'note',
  catch_up: 'catchUp',
  released: 'isReleased',
})

/** A line of `holds.jsonl`. */
export type HoldLine = FileOf<typeof holdFormat>

/** How a line of `ledger.jsonl` is written. */
export const rangeFormat = rowFormat<RangeRow>()({
  seq: 'seq',
  trigger: 'trigger',
  version: 'version',
  first_at: ['firstAt', instant],
  last_at: ['lastAt', instant],
  reason: 'reason',
  rule: 'rule',
  blocker: 'blocker',
  detail: 'detail',
  recorded_at: ['recordedAt', instant],
})

/** A line of `ledger.jsonl`; the last line with a sequence number is current, and may remove the range. */
export type RangeLine = FileOf<typeof rangeFormat> | { readonly seq: number; readonly removed: true }

/** A line of `definitions.jsonl`. */
export type DefinitionLine =
  | { readonly kind: 'job'; readonly name: string; readonly source: string; readonly job: Job }
  | { readonly kind: 'queue'; readonly name: string; readonly queue: Queue }

/** Formats all jobs and queues, in the order in which they were defined. */
export function toDefinitionLines({ queues, jobs }: Tables): readonly DefinitionLine[] {
  return [
    ...[...queues.values()].map((queue) => ({ kind: 'queue', name: queue.name, queue }) as const),
    ...[...jobs.values()].map(({ job, source }) => ({ kind: 'job', name: job.name, source, job }) as const),
  ]
}
