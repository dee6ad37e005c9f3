import type { Instant } from '../../time/instant.js'
import type { Hold } from '../hold/hold.js'
import type { RunId } from '../identity/identity.js'
import type { AuditEntry } from '../audit/audit.js'
import type { Job, Queue } from '../job/job.js'
import type { RecordedRange } from '../ledger/ledger.js'
import type { StateEntry } from '../state/state-entry.js'
import type { Attempt, FinalState, ConcurrencySlot, LogLine, Run } from './run.js'
import type { SeenKey } from '../tick/tick.js'
import type { StoredTrigger, TriggerVersion } from '../trigger/trigger.js'

/** The stored state of a run: users see the first three as `pending`. A ready or running one has taken its slots. */
export type Phase = 'delayed' | 'blocked' | 'ready' | 'running' | FinalState

/** Everything that a store knows about a run. */
export interface RunFact extends Omit<Run, 'state'> {
  readonly phase: Phase
  readonly slots: readonly ConcurrencySlot[]
  readonly endEffect: string | undefined
  readonly uniqueUntil: Instant | undefined
  readonly attempts: readonly Attempt[]
}

/** Everything that a store knows about a trigger. */
export interface TriggerFact extends StoredTrigger {
  readonly fingerprint: string
  readonly keptAt: Instant | undefined
  readonly versions: readonly TriggerVersion[]
}

/** A worker that holds runs or held them. */
export interface WorkerFact {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  /** The roles of its process. */
  readonly roles: readonly string[]
  /** How many runs it performs concurrently; undefined for processes of an older release. */
  readonly slots: number | undefined
  readonly startedAt: Instant
  /** When it last renewed its lease; undefined for processes of an older release. */
  readonly lastBeatAt: Instant | undefined
  readonly leaseUntil: Instant
  /** Whether it claims no more runs. */
  readonly isDraining: boolean
  readonly isGone: boolean
  /** The notices that it has not received yet. */
  readonly notices: readonly HolderNotice[]
}

/** The signs of life of the processes with one role up to an instant. */
export interface Signs {
  /** The last renewal of a lease before it, of processes without a later renewal. */
  readonly lastBeatAt: Instant | undefined
  /** The start of the first process that also renewed its lease after it. */
  readonly livingSince: Instant | undefined
}

/** A request to the holder of a run: stop and report, or stop without reporting because the claim is closed. */
export interface HolderNotice {
  readonly run: RunId
  readonly attempt: number
  readonly kind: 'cancel' | 'terminate'
}

/** One thing that a store knows, in a form that every store can export and import. */
export type Fact =
  | { readonly kind: 'queue'; readonly queue: Queue }
  | { readonly kind: 'job'; readonly job: Job; readonly source: string }
  | { readonly kind: 'worker'; readonly worker: WorkerFact }
  | { readonly kind: 'hold'; readonly hold: Hold; readonly isReleased: boolean }
  | { readonly kind: 'trigger'; readonly trigger: TriggerFact }
  | { readonly kind: 'run'; readonly run: RunFact }
  | { readonly kind: 'log'; readonly lines: readonly LogLine[] }
  | { readonly kind: 'range'; readonly range: RecordedRange }
  | { readonly kind: 'note'; readonly note: StateEntry }
  | { readonly kind: 'seen'; readonly trigger: string; readonly key: SeenKey }
  | { readonly kind: 'audit'; readonly entry: AuditEntry }
  | {
      readonly kind: 'counters'
      readonly highestAt: Instant
      readonly epoch: number
      readonly jobsRevision: number
    }

/** A page of the facts of a store. */
export interface FactPage {
  readonly facts: readonly Fact[]
  /** The cursor of the next page; undefined after the last one. */
  readonly next: string | undefined
}
