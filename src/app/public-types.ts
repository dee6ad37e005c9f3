import type * as progress from '../engine/backfill/progress.js'
import type * as instants from '../engine/backfill/plan-instants.js'
import type * as events from '../engine/events.js'
import type * as explain from '../engine/explain/why.js'
import type * as backfill from '../kernel/backfill/backfill.js'
import type * as ledger from '../kernel/ledger/coverage.js'
import type * as partition from '../kernel/partition/slice.js'
import type * as pending from '../kernel/run/pending.js'
import type * as run from '../kernel/run/run.js'
import type * as trigger from '../kernel/trigger/trigger.js'
import type * as store from '../store/port.js'
import type { Dated } from '../time/dated.js'
import type * as workers from './control/workers.js'

/** A run. */
export type Run = Dated<run.Run>

/** One attempt of a run. */
export type Attempt = Dated<run.Attempt>

/** A line of the log of a run. */
export type StoredLogLine = Dated<store.StoredLogLine>

/** Why a pending run has not been started. */
export type PendingReason = Dated<pending.PendingReason>

/** The definition of a trigger. */
export type Trigger = Dated<trigger.Trigger>

/** A trigger in the store. */
export type StoredTrigger = Dated<trigger.StoredTrigger>

/** A process that shares the store. */
export type WorkerInfo = Dated<workers.WorkerInfo>

/** The result of a request to drain one process. */
export type Drained = Dated<workers.Drained>

/** The answer of `app.why`. */
export type Why = Dated<explain.Why>

/** The explanation of one due instant, or of a range of them. */
export type Explanation = Dated<explain.Explanation>

/** The answer of `app.coverage` for one trigger. */
export type Coverage = Dated<ledger.CoverageReport>

/** The time range of a partition. */
export type Slice = Dated<partition.Slice>

/** A backfill as it was requested, and how far it was started. */
export type Backfill = Dated<backfill.Backfill>

/** A backfill and its progress. */
export type BackfillStatus = Dated<progress.BackfillStatus>

/** Due instants that a backfill skips for one reason. */
export type SkippedInstants = Dated<instants.SkippedInstants>

/** The events of an app, by name. */
export type EngineEvents = Dated<events.EngineEvents>

/** The run of an event. */
export type RunNotice = Dated<events.RunNotice>

/** A run that no worker has claimed for some time. */
export type OfferedRun = Dated<events.OfferedRun>
