/**
 * * The audit: who changed what, through what, why and when, and its state before and after. An entry is written in the
 * transaction of its change. Ticks and workers are not audited: the ledger and the attempts are their record.
 */
import type { Instant } from '../../time/instant.js'
import type { Json } from '../definition/json.js'
import type { HoldTarget } from '../hold/hold.js'
import type { RunId } from '../identity/identity.js'
import type { StateChange, StateKey } from '../state/state-entry.js'

/** Through what a change was made: the command line, the HTTP API, code, the sync of definitions, or a rule of one. */
export type Via = 'cli' | 'api' | 'code' | 'sync' | 'rule'

/** One change. */
export interface AuditEntry {
  /** Created once for a change; all transactions of that change have it. */
  readonly id: string
  readonly at: Instant
  /** Who: the name of a token, a user of the machine, or the source of definitions. */
  readonly actor: string
  readonly via: Via
  /** What was done, such as `run.retry`. */
  readonly action: string
  /** What it was done to, such as `trigger:nightly`. */
  readonly target: string
  readonly reason: string | undefined
  /** The state before and after: small, without secrets. */
  readonly before: Json | undefined
  readonly after: Json | undefined
}

/** An entry with its number; later changes have higher numbers. */
export interface StoredAuditEntry extends AuditEntry {
  readonly seq: number
}

/** Which entries to return, newest first. */
export interface AuditFilter {
  readonly limit: number
  /** The number of the last entry of the previous page. */
  readonly before?: number | undefined
  readonly targets?: readonly string[] | undefined
  readonly actor?: string | undefined
  readonly action?: string | undefined
  /** Only entries of this instant or later. */
  readonly sinceAt?: Instant | undefined
}

/** An object that a change affects. The store reads it before and after, in the transaction of the change. */
export type AuditSubject =
  | { readonly kind: 'run'; readonly id: RunId }
  | { readonly kind: 'trigger' | 'job' | 'worker'; readonly name: string }
  | { readonly kind: 'hold'; readonly target: HoldTarget }
  | { readonly kind: 'state'; readonly key: StateKey }

/** An entry to write, and the objects that its change affects. */
export interface Audit {
  readonly entry: AuditEntry
  /**
   * The entry gets their states before and after, and is written only if one of them differs. Without subjects it is
   * written unchanged, in the first transaction.
   */
  readonly subjects: readonly AuditSubject[]
}

/** How changes are recorded: the audit entries, and what else their transaction writes. */
export interface ChangeRecord {
  readonly audits: readonly Audit[]
  /** State entries that are written together with an entry. */
  readonly state?: readonly StateChange[] | undefined
  /** The tag that a trigger must have; otherwise the change is refused with `REVISION_CHANGED`. */
  readonly expected?: { readonly trigger: string; readonly tag: string } | undefined
}

/** The name of a subject, in the form of `target`. */
export function subjectName(subject: AuditSubject): string {
  switch (subject.kind) {
    case 'run':
      return `run:${subject.id}`
    case 'hold':
      return subject.target
    case 'state':
      return `${subject.key.kind}:${subject.key.name}`
    case 'trigger':
    case 'job':
    case 'worker':
      return `${subject.kind}:${subject.name}`
  }
}
