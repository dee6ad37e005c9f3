import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AskedAudit } from '../engine/audit-change.js'
import type { Events } from '../engine/events.js'
import type { Asked } from '../engine/operations.js'
import type { Roles } from '../engine/role.js'
import type { ClockGuard } from '../engine/scheduler/clock-guard.js'
import type { Registry } from '../engine/sync/registry.js'
import type { AppSettings } from '../formats/config/settings.js'
import type { ErrorTracer } from '../engine/worker/error-tracer.js'
import type { HandlerExtension } from '../handlers/executable-jobs.js'
import type { Author, ChangeOptions } from '../kernel/audit/change-options.js'
import type { RunId } from '../kernel/identity/identity.js'
import type { Run } from '../kernel/run/run.js'
import type { Enqueued, Store } from '../store/port.js'
import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'

/** What the object of a feature can use of its app. */
export interface AppContext {
  readonly clock: Clock
  /** The author of changes whose options name none. */
  readonly author: Author
  readonly events: Events
  readonly tracer: ErrorTracer
  /** What the app defines by code before its start. */
  readonly definitions: Registry
  /** The files from which the app reads definitions, besides its code and config; a reader process asks its app. */
  readonly definitionFiles: () => Promise<readonly string[]>
  /** The source under which the store keeps these definitions. */
  readonly source: string
  readonly settings: Pick<AppSettings, 'concurrency' | 'leaseMs' | 'retentionMs' | 'offerAfterMs' | 'serve'>
  /** Relative paths start here. */
  readonly directory: string
  /** The address of the store with an absolute path. */
  readonly storeUrl: string
  /** What another process needs to read the store; undefined if only this process can read it: memory, files, or the clock of a test. */
  readonly storeForReader: { readonly url: string; readonly durability: 'full' | 'normal' } | undefined
  /** Whether `start()` was called: later definitions are made at run time. */
  readonly isStarted: boolean
  /** Throws if `start()` was called. */
  readonly assertNotStarted: (what: string) => void
  /** The store, opened on first use. */
  readonly store: () => Promise<Store>
  /** The store after the jobs of this app were written to it. */
  readonly storeWithJobs: () => Promise<Store>
  readonly now: () => Instant
  /** Makes the loops of this process check immediately, because something may be due or claimable. */
  readonly wake: () => void
  /** Changes the store, records it in the audit, emits an event with the outcome and wakes the loops. A dry run gets a store that writes nothing. */
  readonly change: <Answer>(
    asked: AskedChange<Answer>,
    act: (store: Store, now: Instant) => Promise<Answer>,
  ) => Promise<Answer>
  readonly enqueue: (
    job: string,
    options: {
      readonly partition?: string | undefined
      readonly uniqueKey?: string | undefined
    } & ChangeOptions,
  ) => Promise<Enqueued>
  /** Runs the job of a trigger now. */
  readonly runNow: (trigger: string, options: ChangeOptions) => Promise<Enqueued>
  /** Resolves with the run when it is final or the signal aborts. */
  readonly waitForRun: (id: RunId, signal?: AbortSignal) => Promise<Run>
  /** Loads what the features add to the handlers of jobs. */
  readonly handlerExtensions: () => Promise<readonly HandlerExtension[]>
  /** Answers requests at an address until the app stops, with limits on what peers may cost. */
  readonly listen: (
    address: { readonly host: string; readonly port: number },
    answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  ) => Promise<{ readonly host: string; readonly port: number }>
  /** Adds something that starts and stops with the app. */
  readonly join: (part: AppPart) => void
}

/** A requested change of an app: how its outcome is reported, and what the audit records of it. */
export interface AskedChange<Answer> extends Omit<Asked<Answer>, 'dryRun'> {
  /** Who requests it, why, and whether it is a dry run. */
  readonly options: ChangeOptions
  /** The audit of the change; the store is the one before it. */
  readonly audit: AskedAudit | readonly AskedAudit[] | ((store: Store) => Promise<AskedAudit>)
  /** Whether the jobs of this app are written first. */
  readonly needsJobs?: boolean | undefined
}

/** A part of a feature that starts and stops with its app. */
export interface AppPart {
  /** Called after the definitions are written and before anything is planned or claimed. */
  readonly prepare?: (app: StartingApp) => Promise<void>
  /** Called after a reload has given the app other definitions and written them. */
  readonly redefine?: (app: StartingApp) => Promise<void>
  /** Called once the engine runs. */
  readonly start?: (app: StartingApp) => Promise<void>
  /** Called when something may have become claimable. */
  readonly wake?: () => void
  /** Called when the engine stops; what is in progress may finish within the grace period. */
  readonly stop?: (graceMs: number) => Promise<void>
  /** Called after the engine has stopped and before the store is closed. */
  readonly close?: () => Promise<void>
}

/** What a part is given when its app starts. */
export interface StartingApp {
  readonly store: Store
  readonly guard: ClockGuard
  readonly roles: Roles
  /** The interval of the slow poll behind all hints. */
  readonly pollMs: number
  /** How often dead workers are looked for, and how long after its end a lease counts as expired. */
  readonly upkeep: { readonly everyMs: number; readonly leaseSlackMs: number }
  /** Whether this process must not take new work. */
  readonly isDraining: () => boolean
  /** Sources of triggers whose changes are reported besides those of jobs. */
  readonly sources: Set<string>
}
