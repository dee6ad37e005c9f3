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

/** Where a run is: the first three are `pending` to the world. A ready or running one has taken its concurrency slots. */
export type Phase = 'delayed' | 'blocked' | 'ready' | 'running' | FinalState

/** All that a store knows of a run. */
export interface RunFact extends Omit<Run, 'state'> {
  readonly phase: Phase
  readonly slots: readonly ConcurrencySlot[]
  readonly endEffect: string | undefined
  readonly uniqueUntil: Instant | undefined
  readonly attempts: readonly Attempt[]
}

/** All that a store knows of a trigger. */
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
  /** What its process does. */
  readonly roles: readonly string[]
  /** How many runs it performs at once; unknown of a release that did not say so. */
  readonly slots: number | undefined
  readonly startedAt: Instant
  /** When it last renewed its lease; unknown of a release that did not say so. */
  readonly lastBeatAt: Instant | undefined
  readonly leaseUntil: Instant
  /** Whether it is to take nothing more. */
  readonly isDraining: boolean
  readonly isGone: boolean
  /** What it has yet to be told. */
  readonly notices: readonly HolderNotice[]
}

/** What processes with one role left behind up to an instant. */
export interface Signs {
  /** The last renewal of those that renewed nothing later. */
  readonly lastBeatAt: Instant | undefined
  /** When the first one was started that also renewed its lease later. */
  readonly livingSince: Instant | undefined
}

/** A request to the holder of a run: stop and report, or stop without reporting since the claim is closed. */
export interface HolderNotice {
  readonly run: RunId
  readonly attempt: number
  readonly kind: 'cancel' | 'terminate'
}

/** One thing that a store knows, in a form that every store can give and take. */
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

/** Some of the facts of a store, and where the others begin. */
export interface FactPage {
  readonly facts: readonly Fact[]
  /** What to ask for next; absent where these were the last. */
  readonly next: string | undefined
}
