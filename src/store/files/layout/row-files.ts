/** The rows of a store other than runs, as people read them: one object per row, instants as text. */
import type { HolderNotice } from '../../../kernel/run/fact.js'
import type { HoldTarget } from '../../../kernel/hold/hold.js'
import type { Job, Queue } from '../../../kernel/job/job.js'
import type { LedgerReason, LedgerRule } from '../../../kernel/ledger/ledger.js'
import type { Trigger, TriggerVersion } from '../../../kernel/trigger/trigger.js'
import { formatInstant, parseInstant, type Instant } from '../../../time/instant.js'
import type { HoldRow, Mutable, RangeRow, Tables, TriggerRow, WorkerRow } from '../../memory/tables.js'
import type { StoredJob } from '../../port.js'

/** A trigger: its definition, its cursor and its versions. */
export interface TriggerFile {
  readonly name: string
  readonly source: string
  readonly active: boolean
  readonly cursor_at: string
  readonly next_at: string | null
  readonly version: number
  readonly revision: number
  readonly defined_at: string
  readonly chain_run?: string | undefined
  readonly kept_at?: string | undefined
  readonly fingerprint: string
  readonly trigger: Trigger
  readonly versions: readonly VersionFile[]
}

interface VersionFile {
  readonly version: number
  readonly valid_from: string
  readonly valid_until: string | null
  readonly tzdata: string
  readonly trigger: Trigger
}

/** Formats a trigger. */
export function toTriggerFile(row: TriggerRow): TriggerFile {
  return {
    name: row.trigger.name,
    source: row.source,
    active: row.active,
    cursor_at: formatInstant(row.cursorAt),
    next_at: textOf(row.nextAt) ?? null,
    version: row.version,
    revision: row.revision,
    defined_at: formatInstant(row.definedAt),
    chain_run: row.chainRun,
    kept_at: textOf(row.keptAt),
    fingerprint: row.fingerprint,
    trigger: row.trigger,
    versions: row.versions.map(({ version, validFrom, validUntil, tzdata, trigger }) => {
      const until = textOf(validUntil) ?? null
      return { version, valid_from: formatInstant(validFrom), valid_until: until, tzdata, trigger }
    }),
  }
}

/** Parses a trigger. */
export function fromTriggerFile(file: TriggerFile): TriggerRow {
  return {
    trigger: file.trigger,
    source: file.source,
    fingerprint: file.fingerprint,
    version: file.version,
    revision: file.revision,
    definedAt: parseInstant(file.defined_at),
    cursorAt: parseInstant(file.cursor_at),
    nextAt: instantOf(file.next_at),
    chainRun: file.chain_run,
    active: file.active,
    keptAt: instantOf(file.kept_at),
    versions: file.versions.map((version) => versionOf(file.name, version)),
  }
}

function versionOf(name: string, file: VersionFile): Mutable<TriggerVersion> {
  const { version, trigger, tzdata } = file
  const validFrom = parseInstant(file.valid_from)
  return { name, version, trigger, validFrom, validUntil: instantOf(file.valid_until), tzdata }
}

/** A worker with its lease. */
export interface WorkerFile {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  /** Absent, like `slots`, `last_beat_at` and `draining`, in files of releases before layout 3. */
  readonly roles?: readonly string[] | undefined
  readonly slots?: number | undefined
  readonly started_at: string
  readonly last_beat_at?: string | undefined
  readonly lease_until: string
  readonly lease_ms: number
  readonly draining?: boolean | undefined
  readonly gone: boolean
  readonly notices: readonly HolderNotice[]
}

/** Formats a worker. */
export function toWorkerFile(row: WorkerRow): WorkerFile {
  return {
    id: row.id,
    host: row.host,
    pid: row.pid,
    version: row.version,
    roles: row.roles,
    slots: row.slots,
    started_at: formatInstant(row.now),
    last_beat_at: textOf(row.lastBeatAt),
    lease_until: formatInstant(row.leaseUntil),
    lease_ms: row.leaseMs,
    draining: row.isDraining,
    gone: row.isGone,
    notices: row.notices,
  }
}

/** Parses a worker. */
export function fromWorkerFile(file: WorkerFile): Omit<WorkerRow, 'running'> {
  return {
    id: file.id,
    host: file.host,
    pid: file.pid,
    version: file.version,
    roles: file.roles ?? ['worker'],
    slots: file.slots,
    now: parseInstant(file.started_at),
    lastBeatAt: instantOf(file.last_beat_at),
    leaseUntil: parseInstant(file.lease_until),
    leaseMs: file.lease_ms,
    isDraining: file.draining ?? false,
    isGone: file.gone,
    notices: [...file.notices],
  }
}

/** A line of `holds.jsonl`; the last line with an id is current. */
export interface HoldLine {
  readonly id: number
  readonly target: HoldTarget
  readonly from_at: string
  readonly until_at: string | null
  readonly actor: string
  readonly note: string
  readonly catch_up: boolean
  readonly released: boolean
}

/** Formats a hold. */
export function toHoldLine(row: HoldRow): HoldLine {
  return {
    id: row.id,
    target: row.target,
    from_at: formatInstant(row.fromAt),
    until_at: textOf(row.untilAt) ?? null,
    actor: row.actor,
    note: row.note,
    catch_up: row.catchUp,
    released: row.isReleased,
  }
}

/** Parses a hold. */
export function fromHoldLine(line: HoldLine): HoldRow {
  return {
    id: line.id,
    target: line.target,
    fromAt: parseInstant(line.from_at),
    untilAt: instantOf(line.until_at),
    actor: line.actor,
    note: line.note,
    catchUp: line.catch_up,
    isReleased: line.released,
  }
}

/** A line of `ledger.jsonl`; the last line with a sequence number is current, and may remove the range. */
export type RangeLine = RangeFacts | { readonly seq: number; readonly removed: true }

interface RangeFacts {
  readonly seq: number
  readonly trigger: string
  readonly version: number
  readonly first_at: string
  readonly last_at: string
  readonly reason: LedgerReason
  readonly rule: LedgerRule
  readonly blocker?: string | undefined
  readonly detail?: string | undefined
  readonly recorded_at: string
}

/** Formats a range. */
export function toRangeLine(row: RangeRow): RangeLine {
  return {
    seq: row.seq,
    trigger: row.trigger,
    version: row.version,
    first_at: formatInstant(row.firstAt),
    last_at: formatInstant(row.lastAt),
    reason: row.reason,
    rule: row.rule,
    blocker: row.blocker,
    detail: row.detail,
    recorded_at: formatInstant(row.recordedAt),
  }
}

/** Parses a range; returns undefined if the line removes it. */
export function fromRangeLine(line: RangeLine): RangeRow | undefined {
  if ('removed' in line) return undefined
  return {
    seq: line.seq,
    trigger: line.trigger,
    version: line.version,
    firstAt: parseInstant(line.first_at),
    lastAt: parseInstant(line.last_at),
    reason: line.reason,
    rule: line.rule,
    blocker: line.blocker,
    detail: line.detail,
    recordedAt: parseInstant(line.recorded_at),
  }
}

/** A line of `definitions.jsonl`. */
export type DefinitionLine =
  | { readonly kind: 'job'; readonly name: string; readonly source: string; readonly job: Job }
  | { readonly kind: 'queue'; readonly name: string; readonly queue: Queue }

/** Formats all jobs and queues, in the order in which they were defined. */
export function toDefinitionLines(tables: Tables): readonly DefinitionLine[] {
  return [
    ...[...tables.queues.values()].map((queue) => ({ kind: 'queue', name: queue.name, queue }) as const),
    ...[...tables.jobs.values()].map(({ job, source }: StoredJob) => {
      return { kind: 'job', name: job.name, source, job } as const
    }),
  ]
}

/** Formats an optional instant. */
export function textOf(at: Instant | undefined): string | undefined {
  return at === undefined ? undefined : formatInstant(at)
}

/** Parses an optional instant. */
export function instantOf(text: unknown): Instant | undefined {
  return typeof text === 'string' ? parseInstant(text) : undefined
}
