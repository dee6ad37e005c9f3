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
  /** Within it an instant is simply on time. */
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
  /** After so many failed runs in a row it is paused. */
  readonly pauseAfter?: number | undefined
  /** Copied to its runs. */
  readonly labels?: Labels | undefined
  /** The channels to which its problems are reported; absent: its job or the rules of the app decide. */
  readonly alerts?: AlertsOption | undefined
  /** How soon after their due instants its runs begin and end, and how old its last success may be; of a round: its checks. */
  readonly sla?: Sla | undefined
  /** The address that gets a request at the start and the end of its runs. */
  readonly ping?: SecretText | undefined
  /** The services that each of its due instants checks; such a trigger makes no other runs. */
  readonly round?: RoundSpec | undefined
  /** Whether it is noted when its one run has ended. */
  readonly recordsExecution?: boolean | undefined
}

/** The jobs that a trigger makes runs of. */
export function jobsOf(trigger: Trigger): readonly string[] {
  return trigger.round?.services.map(({ job }) => job) ?? [trigger.job]
}

/** How long after the end of its run a trigger is due again, where its instants are counted from there. */
export function chainMsOf(spec: ScheduleSpec): number | undefined {
  return spec.kind === 'after-finish' ? spec.everyMs : undefined
}

/** Whether only a process that has its sensor looks at the trigger. */
export function isPolled(spec: ScheduleSpec): boolean {
  return spec.kind === 'sensor'
}

/** Whether nothing is polled: others deliver what triggers it. */
export function isHeard(spec: ScheduleSpec): boolean {
  return spec.kind === 'sensor' && spec.type === 'webhook'
}

/** The assets whose finished partitions arrive at the trigger. */
export function followedAssets(spec: ScheduleSpec): readonly string[] {
  return spec.kind === 'upstream' ? spec.assets : []
}

/** A trigger as it stands in the store: its definition, whose it is, and how far it has been planned. */
export interface StoredTrigger {
  readonly trigger: Trigger
  readonly source: string
  readonly version: number
  /** Raised by every change of the row: what a tick compares before it writes. */
  readonly revision: number
  readonly definedAt: Instant
  readonly cursorAt: Instant
  /** When it has to be looked at next; absent when nothing is to come. */
  readonly nextAt: Instant | undefined
  /** The run whose end gives an after-finish trigger its next due instant. */
  readonly chainRun: string | undefined
  /** Whether its source still defines it. */
  readonly active: boolean
}

/** A definition of a trigger as it held from one instant to another: `(validFrom, validUntil]`. */
export interface TriggerVersion {
  readonly name: string
  readonly version: number
  readonly trigger: Trigger
  readonly validFrom: Instant
  readonly validUntil: Instant | undefined
  readonly tzdata: string
}

/** A trigger that is due, with all that its tick needs to know. */
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
