import type { AlertsOption } from '../alert/alerts-option.js'
import type { Instant } from '../../time/instant.js'
import type { Hold } from '../hold/hold.js'
import type { Job } from '../job/job.js'
import type { Json } from '../definition/json.js'
import type { PartitionRule } from '../partition/rule.js'
import type { RoundSpec } from './round-spec.js'
import type { Labels } from '../run/run.js'
import type { SecretText } from '../definition/secret-text.js'
import type { Sla } from '../sla/sla.js'
import type { ScheduleSpec } from './schedule.js'

/** What happens to due instants that were not found in time. */
export interface CatchUpPolicy {
  /** `skip` records them, `latest` runs the newest one, `all` runs the newest `maxRuns`. */
  readonly mode: 'skip' | 'latest' | 'all'
  /** Older ones are recorded as missed whatever the mode. */
  readonly maxAgeMs: number | undefined
  readonly maxRuns: number
  /** An instant found within this time is on time. */
  readonly graceMs: number
}

/** What happens when an instant is due while an earlier run of the trigger is unfinished. */
export type OverlapPolicy =
  | 'allow'
  | 'skip'
  | 'queue-one'
  | 'queue-all'
  | 'cancel-running'
  | 'terminate-running'

/** The named *why now*: binds a job to a schedule, with its policies. */
export interface Trigger {
  readonly name: string
  readonly job: string
  readonly schedule: ScheduleSpec
  readonly payload: Json | undefined
  /** The partition of each due instant; default for an asset: its slice. */
  readonly partition: PartitionRule | undefined
  readonly catchUp: CatchUpPolicy
  readonly overlap: OverlapPolicy
  /** Moves each run by its own constant part of this, taken from the run's id. */
  readonly jitterMs: number
  /** Moves all runs of the trigger by one constant part of this, taken from its name. */
  readonly spreadMs: number
  /** Overrides the job's. */
  readonly priority: number | undefined
  /** If false, it is defined but never due. */
  readonly enabled: boolean
  /** It is paused after this many failed runs in a row. */
  readonly pauseAfter?: number | undefined
  /** Copied to its runs. */
  readonly labels?: Labels | undefined
  /** The channels to which its problems are reported; absent: its job or the rules of the app decide. */
  readonly alerts?: AlertsOption | undefined
  /** How soon its runs (of a round: its checks) begin and end, and how old its last success may be. */
  readonly sla?: Sla | undefined
  /** The address that gets a request at the start and the end of its runs. */
  readonly ping?: SecretText | undefined
  /** The services that each of its due instants checks; such a trigger makes no other runs. */
  readonly round?: RoundSpec | undefined
  /** Whether the end of its only run is recorded in a state entry. */
  readonly recordsExecution?: boolean | undefined
}

/** The jobs for which a trigger creates runs. */
export function jobsOf(trigger: Trigger): readonly string[] {
  return trigger.round?.services.map(({ job }) => job) ?? [trigger.job]
}

/** The interval of an after-finish trigger; undefined for any other. */
export function chainMsOf(spec: ScheduleSpec): number | undefined {
  return spec.kind === 'after-finish' ? spec.everyMs : undefined
}

/** Whether only a process that has its sensor evaluates the trigger. */
export function isPolled(spec: ScheduleSpec): boolean {
  return spec.kind === 'sensor'
}

/** Whether the trigger is not polled: it gets its observations by webhook. */
export function isHeard(spec: ScheduleSpec): boolean {
  return spec.kind === 'sensor' && spec.type === 'webhook'
}

/** The assets that the trigger follows. */
export function followedAssets(spec: ScheduleSpec): readonly string[] {
  return spec.kind === 'upstream' ? spec.assets : []
}

/** A trigger as the store has it: its definition, its source and its cursor. */
export interface StoredTrigger {
  readonly trigger: Trigger
  readonly source: string
  readonly version: number
  /** Increased by every change of the row; a tick compares it before it writes. */
  readonly revision: number
  readonly definedAt: Instant
  readonly cursorAt: Instant
  /** When it must be planned next; undefined if it is never due again. */
  readonly nextAt: Instant | undefined
  /** The run whose end gives an after-finish trigger its next due instant. */
  readonly chainRun: string | undefined
  /** Whether its source still defines it. */
  readonly active: boolean
}

/** A definition of a trigger that was valid in `(validFrom, validUntil]`. */
export interface TriggerVersion {
  readonly name: string
  readonly version: number
  readonly trigger: Trigger
  readonly validFrom: Instant
  readonly validUntil: Instant | undefined
  readonly tzdata: string
}

/** A trigger that is due, with everything that its tick needs. */
export interface DueTrigger extends StoredTrigger {
  readonly jobDefinition: Job
  readonly holds: readonly Hold[]
  /** Its unfinished runs, oldest first; a bounded number of them. */
  readonly unfinished: readonly UnfinishedRun[]
}

/** A run that has not ended yet, as a tick sees it. */
export interface UnfinishedRun {
  readonly id: string
  readonly state: 'pending' | 'running'
}
