// Made by `npm run docs:api` from the routes; do not edit.

/** The schema AlertStatus of the API. */
export type AlertStatus = {
  readonly channels: readonly {
    readonly name: string
    readonly kind: 'webhook' | 'slack' | 'discord' | 'command' | 'email'
    readonly source: string
    readonly lastSentAt: Instant | null
    readonly lastFailure: { readonly run: string; readonly at: Instant; readonly text: string } | null
  }[]
  readonly rules: readonly {
    readonly source: string
    readonly name: string
    readonly on: readonly (
      | 'failure'
      | 'quarantined'
      | 'recovery'
      | 'missed'
      | 'sla'
      | 'paused'
      | 'sensor-behind'
      | 'worker-lost'
    )[]
    readonly channels: readonly string[]
    readonly jobs: readonly string[] | null
    readonly triggers: readonly string[] | null
    readonly groupMs: number
    readonly quietMs: number
  }[]
  readonly subjects: readonly {
    readonly source: string
    readonly rule: string
    readonly subject: string
    readonly waiting: number
    readonly sendAt: Instant | null
    readonly quietUntil: Instant | null
    readonly isFailing: boolean
  }[]
}

/** The schema Asset of the API. */
export type Asset = {
  readonly name: string
  readonly partitions: { readonly kind: string; readonly [other: string]: unknown }
  readonly deps: readonly { readonly asset: string; readonly [other: string]: unknown }[]
  readonly queue: string
  readonly source: string
  readonly follows: boolean
  readonly schedules: readonly {
    readonly name: string
    readonly enabled: boolean
    readonly nextAt: Instant | null
    readonly [other: string]: unknown
  }[]
}

/** The schema Attempt of the API. */
export type Attempt = {
  readonly attempt: number
  readonly end: 'done' | 'failed' | 'timed-out' | 'lost' | 'released' | 'cancelled' | 'snoozed' | null
  readonly worker: string | null
  readonly claimedAt: Instant
  readonly startedAt: Instant | null
  readonly endedAt: Instant | null
  readonly error: StoredError | null
}

/** The schema AuditEntry of the API. */
export type AuditEntry = {
  readonly seq: number
  readonly id: string
  readonly at: Instant
  readonly actor: string
  readonly via: 'cli' | 'api' | 'code' | 'sync' | 'rule'
  readonly action: string
  readonly target: string
  readonly reason: string | null
  readonly before: unknown
  readonly after: unknown
}

/** The schema Backfill of the API. */
export type Backfill = {
  readonly id: string
  readonly trigger: string | null
  readonly asset: string | null
  readonly only: string
  readonly order: 'oldest-first' | 'newest-first'
  readonly concurrency: number | null
  readonly pace: string | null
  readonly total: number
  readonly first: string
  readonly last: string
  readonly skipped: Readonly<Record<string, number>>
  readonly by: string
  readonly reason: string | null
  readonly createdAt: Instant
  readonly startedAt: Instant | null
  readonly state: 'planned' | 'starting' | 'started' | 'cancelling' | 'cancelled'
  readonly started: number
  readonly cancelledRuns: number
}

/** The schema BackfillProgress of the API. */
export type BackfillProgress = {
  readonly id: string
  readonly trigger: string | null
  readonly asset: string | null
  readonly only: string
  readonly order: 'oldest-first' | 'newest-first'
  readonly concurrency: number | null
  readonly pace: string | null
  readonly total: number
  readonly first: string
  readonly last: string
  readonly skipped: Readonly<Record<string, number>>
  readonly by: string
  readonly reason: string | null
  readonly createdAt: Instant
  readonly startedAt: Instant | null
  readonly state: 'planned' | 'starting' | 'started' | 'cancelling' | 'cancelled'
  readonly started: number
  readonly cancelledRuns: number
  readonly done: number
  readonly failed: number
  readonly left: number
}

/** The schema Bulk of the API. */
export type Bulk = {
  readonly id: string
  readonly action: 'retry' | 'cancel' | 'run' | 'advance'
  readonly filter: string | null
  readonly reason: string | null
  readonly by: string
  readonly state: 'running' | 'done' | 'failed' | 'aborted'
  readonly total: number
  readonly left: number
  readonly done: number
  readonly skipped: readonly { readonly reason: string; readonly about: string; readonly count: number }[]
  readonly failed: number
  readonly errors: readonly { readonly run: string; readonly message: string }[]
  readonly createdAt: Instant
  readonly endedAt: Instant | null
}

/** The schema BulkPlan of the API. */
export type BulkPlan = {
  readonly count: number
  readonly capped: boolean
  readonly skipped: readonly { readonly reason: string; readonly about: string; readonly count: number }[]
  readonly examples: readonly Run[]
}

/** The schema Calendar of the API. */
export type Calendar = {
  readonly name: string
  readonly source: string
  readonly changedAt: Instant
  readonly times: readonly string[]
  readonly includedBy: readonly string[]
  readonly excludedBy: readonly string[]
}

/** The schema CalendarShown of the API. */
export type CalendarShown = {
  readonly name: string
  readonly source: string
  readonly changedAt: Instant
  readonly times: readonly string[]
  readonly includedBy: readonly string[]
  readonly excludedBy: readonly string[]
  readonly timezone: string
  readonly next: readonly CalendarStretch[]
}

/** The schema CalendarStretch of the API. */
export type CalendarStretch = {
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly from: string
  readonly until: string
}

/** The schema Caller of the API. */
export type Caller = { readonly actor: string; readonly role: 'read' | 'operate' | 'admin' }

/** The schema CommandJob of the API. */
export type CommandJob = {
  readonly id: string
  readonly type: 'recurring' | 'oneshot'
  readonly schedule: string | null
  readonly executeAt: Instant | null
  readonly command: string
  readonly userId: string
  readonly metadata: Readonly<Record<string, string>>
  readonly state: 'created' | 'scheduled' | 'executing' | 'completed' | 'executed' | 'removed' | 'cleaned-up'
  readonly nextAt: Instant | null
  readonly executed: boolean
  readonly executedAt: Instant | null
  readonly isShell: boolean
  readonly source: string
}

/** The schema Coverage of the API. */
export type Coverage = {
  readonly trigger: string
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly due: number
  readonly run: number
  readonly explained: Readonly<Record<string, number>>
  readonly unexplained: readonly Instant[]
  readonly unexplainedCount: number
  readonly unexpected: readonly Instant[]
  readonly unexpectedCount: number
  readonly otherZoneRules: boolean
  readonly breaches: number
}

/** The schema CoveredDay of the API. */
export type CoveredDay = {
  readonly date: string
  readonly coverage: {
    readonly due: number
    readonly run: number
    readonly explained: Readonly<Record<string, number>>
    readonly unexplained: number
    readonly unexpected: number
  } | null
}

/** The schema ErrorGroup of the API. */
export type ErrorGroup = {
  readonly code: string
  readonly shape: string
  readonly count: number
  readonly firstDueAt: Instant
  readonly lastDueAt: Instant
  readonly jobs: readonly string[]
  readonly example: Run
}

/** The schema Evaluation of the API. */
export type Evaluation = {
  readonly number: number
  readonly kind: 'trigger' | 'no-trigger' | 'error' | 'delivered'
  readonly reason: string | null
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly count: number
  readonly observations: number
  readonly fresh: number
  readonly tookMs: number
  readonly [other: string]: unknown
}

/** The schema Explanation of the API. */
export type Explanation =
  | {
      readonly kind: 'run'
      readonly at: Instant
      readonly run: Run
      readonly pending: readonly PendingReason[]
    }
  | {
      readonly kind: 'range'
      readonly version: number
      readonly firstAt: Instant
      readonly lastAt: Instant
      readonly reason: LedgerReason
      readonly rule: string
      readonly blocker: string | null
      readonly detail: string | null
      readonly recordedAt: Instant
      readonly blockerState: RunState | null
      readonly lastSignAt: Instant | null
    }
  | { readonly kind: 'held'; readonly firstAt: Instant; readonly lastAt: Instant; readonly hold: Hold }
  | {
      readonly kind: 'excluded'
      readonly firstAt: Instant
      readonly lastAt: Instant
      readonly reason: LedgerReason
      readonly rule: string
      readonly detail: string
    }
  | {
      readonly kind: 'waiting'
      readonly at: Instant
      readonly hold: Hold | null
      readonly lastSignAt: Instant | null
    }
  | { readonly kind: 'future'; readonly at: Instant }
  | {
      readonly kind: 'not-due'
      readonly at: Instant
      readonly beforeAt: Instant | null
      readonly afterAt: Instant | null
    }
  | {
      readonly kind: 'not-defined'
      readonly at: Instant
      readonly definedAt: Instant | null
      readonly endedAt: Instant | null
    }
  | { readonly kind: 'unexplained'; readonly at: Instant }

/** The schema Finding of the API. */
export type Finding = {
  readonly check: string
  readonly level: 'ok' | 'warn' | 'error'
  readonly message: string
  readonly todo: string | null
}

/** The schema Hold of the API. */
export type Hold = {
  readonly target: string
  readonly fromAt: Instant
  readonly untilAt: Instant | null
  readonly by: string
  readonly note: string
  readonly catchUp: boolean
}

/** The schema ImportedLine of the API. */
export type ImportedLine = {
  readonly line: number
  readonly id: string | null
  readonly became: 'added' | 'unchanged' | 'executed' | 'conflict' | 'faulty'
  readonly source: string | null
  readonly faults: readonly {
    readonly line: number
    readonly column: number
    readonly path: string
    readonly message: string
    readonly allowed: string | null
  }[]
}

/** The schema Instant of the API. */
export type Instant = string

/** The schema Job of the API. */
export type Job = {
  readonly name: string
  readonly handler: { readonly kind: string; readonly [other: string]: unknown }
  readonly queue: string
  readonly priority: number
  readonly source: string
  readonly active: boolean
  readonly [other: string]: unknown
}

/** The schema Kept of the API. */
export type Kept = {
  readonly what: 'runs' | 'audit' | 'rollups' | 'coverage' | 'requests' | 'sessions'
  readonly job: string | null
  readonly state: string | null
  readonly keptMs: number
  readonly most: number | null
  readonly about: string
}

/** How long after their due instants runs began. */
export type Lateness = { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number }

/** The schema LedgerEntry of the API. */
export type LedgerEntry = {
  readonly seq: number
  readonly trigger: string
  readonly version: number
  readonly firstAt: Instant
  readonly lastAt: Instant
  readonly reason: LedgerReason
  readonly rule: string
  readonly blocker: string | null
  readonly detail: string | null
  readonly recordedAt: Instant
}

/** The schema LedgerReason of the API. */
export type LedgerReason =
  | 'missed'
  | 'collapsed'
  | 'overlap'
  | 'paused'
  | 'frozen'
  | 'switch'
  | 'blackout'
  | 'calendar'
  | 'pruned'
  | 'checked'

/** The schema Load of the API. */
export type Load = {
  readonly instants: number
  readonly peak: number
  readonly peakAt: Instant | null
  readonly isCapped: boolean
}

/** The schema LogLine of the API. */
export type LogLine = {
  readonly seq: number
  readonly at: Instant
  readonly attempt: number
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
}

/** The schema Partition of the API. */
export type Partition = {
  readonly partition: string
  readonly state: 'missing' | 'running' | 'done' | 'failed' | 'stale'
  readonly doneAt: Instant | null
  readonly run: string | null
}

/** The schema Peak of the API. */
export type Peak = { readonly count: number; readonly at: Instant | null }

/** The schema PendingReason of the API. */
export type PendingReason =
  | { readonly kind: 'due-later'; readonly at: Instant }
  | {
      readonly kind: 'retry'
      readonly at: Instant
      readonly failures: number
      readonly error: StoredError | null
    }
  | { readonly kind: 'snoozed'; readonly at: Instant; readonly reason: string }
  | { readonly kind: 'held'; readonly hold: Hold }
  | { readonly kind: 'queue-paused'; readonly queue: string; readonly hold: Hold }
  | {
      readonly kind: 'limit'
      readonly of: 'trigger' | 'job' | 'key' | 'partition' | 'service' | 'backfill'
      readonly name: string
      readonly key: string | null
      readonly limit: number
      readonly holders: readonly string[]
    }
  | {
      readonly kind: 'queue-full'
      readonly queue: string
      readonly limit: number
      readonly holders: readonly string[]
    }
  | {
      readonly kind: 'rate-limit'
      readonly of: 'queue' | 'job' | 'key'
      readonly name: string
      readonly key: string | null
      readonly max: number
      readonly perMs: number
      readonly at: Instant
    }
  | { readonly kind: 'job-undefined'; readonly job: string }
  | { readonly kind: 'no-worker' }
  | { readonly kind: 'draining'; readonly workers: number }
  | { readonly kind: 'no-handler'; readonly job: string; readonly source: string; readonly workers: number }
  | { readonly kind: 'slots-taken'; readonly slots: number; readonly workers: number }
  | { readonly kind: 'ready' }

/** The schema Plan of the API. */
export type Plan = {
  readonly name: string
  readonly isNamed: boolean
  readonly entries: number
  readonly open: number
}

/** The schema PlanEntry of the API. */
export type PlanEntry = {
  readonly jobId: string
  readonly runId: string
  readonly dueAt: Instant
  readonly publishAt: string
  readonly local: string
  readonly standing: 'missed' | 'due' | 'future'
  readonly pipelinePath: string
  readonly runIdBase: string
  readonly params: unknown
}

/** The schema Preview of the API. */
export type Preview = {
  readonly expression: string
  readonly timezone: string
  readonly dst: string
  readonly description: string | null
  readonly occurrences: readonly { readonly at: Instant; readonly local: string; readonly change: unknown }[]
  readonly changes: readonly unknown[]
  readonly nextAt: Instant | null
}

/** The schema Problem of the API. */
export type Problem = {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly todo: string
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[]
  readonly changed?: readonly {
    readonly action: string
    readonly target: string
    readonly subjects: readonly string[]
  }[]
}

/** The schema Queue of the API. */
export type Queue = {
  readonly name: string
  readonly concurrency: number | null
  readonly limit: { readonly max: number; readonly perMs: number; readonly burst: number } | null
  readonly paused: boolean
  readonly ready: number
  readonly oldestReadyAt: Instant | null
  readonly running: number
  readonly delayed: number
  readonly blocked: number
}

/** The schema ReloadedProcess of the API. */
export type ReloadedProcess = {
  readonly host: string
  readonly pid: number
  readonly app: string
  readonly outcome: 'reloaded' | 'planned' | 'refused' | 'silent'
  readonly jobs: {
    readonly added: readonly string[]
    readonly changed: readonly string[]
    readonly removed: readonly string[]
  } | null
  readonly triggers: {
    readonly added: readonly string[]
    readonly changed: readonly string[]
    readonly removed: readonly string[]
  } | null
  readonly unchanged: number | null
  readonly needsRestart: readonly string[] | null
  readonly code: string | null
  readonly message: string | null
}

/** The schema Round of the API. */
export type Round = {
  readonly name: string
  readonly intervalMs: number
  readonly services: readonly string[]
  readonly checkedAt: Instant | null
  readonly resumed: boolean
  readonly currentService: string | null
  readonly remainingServices: readonly string[]
  readonly completedCount: number
  readonly results: readonly {
    readonly service: string
    readonly status: 'ok' | 'error'
    readonly info: string
  }[]
  readonly skipped: readonly {
    readonly service: string
    readonly reason: 'not_due' | 'in_flight' | 'tried' | 'replaced'
    readonly [other: string]: unknown
  }[]
  readonly nextCheckAt: Instant | null
  readonly state: 'on' | 'paused' | 'frozen' | 'switched off' | 'disabled' | 'over' | 'stopped'
  readonly source: string
  readonly cycle: {
    readonly checkedAt: Instant
    readonly servicesQueue: readonly string[]
    readonly currentService: string | null
    readonly results: readonly {
      readonly service: string
      readonly status: 'ok' | 'error'
      readonly info: string
    }[]
  } | null
}

/** The schema Run of the API. */
export type Run = {
  readonly id: string
  readonly job: string
  readonly trigger: string | null
  readonly origin: 'trigger' | 'enqueue' | 'manual' | 'sensor' | 'round' | 'upstream' | 'backfill'
  readonly state: RunState
  readonly reason: string | null
  readonly dueAt: Instant
  readonly runAt: Instant
  readonly createdAt: Instant
  readonly claimedAt: Instant | null
  readonly startedAt: Instant | null
  readonly finishedAt: Instant | null
  readonly attempt: number
  readonly failures: number
  readonly crashes: number
  readonly priority: number
  readonly partition: string | null
  readonly uniqueKey: string | null
  readonly labels: Readonly<Record<string, string>> | null
  readonly worker: string | null
  readonly waitsFor: string | null
  readonly cancelRequested: boolean
  readonly payload: unknown
  readonly result: unknown
  readonly error: StoredError | null
}

/** The schema RunBeside of the API. */
export type RunBeside = {
  readonly id: string
  readonly job: string
  readonly trigger: string | null
  readonly origin: 'trigger' | 'enqueue' | 'manual' | 'sensor' | 'round' | 'upstream' | 'backfill'
  readonly state: RunState
  readonly reason: string | null
  readonly dueAt: Instant
  readonly runAt: Instant
  readonly createdAt: Instant
  readonly claimedAt: Instant | null
  readonly startedAt: Instant | null
  readonly finishedAt: Instant | null
  readonly attempt: number
  readonly failures: number
  readonly crashes: number
  readonly priority: number
  readonly partition: string | null
  readonly uniqueKey: string | null
  readonly labels: Readonly<Record<string, string>> | null
  readonly worker: string | null
  readonly waitsFor: string | null
  readonly cancelRequested: boolean
  readonly payload: unknown
  readonly result: unknown
  readonly error: StoredError | null
  readonly pending: readonly PendingReason[]
}

/** The schema RunState of the API. */
export type RunState = 'pending' | 'running' | 'done' | 'failed' | 'cancelled'

/** The schema Schedule of the API. */
export type Schedule = { readonly kind: string; readonly [other: string]: unknown }

/** The schema Sensor of the API. */
export type Sensor = {
  readonly name: string
  readonly type: string
  readonly job: string
  readonly condition: 'waiting' | 'ok' | 'failing' | 'broken' | 'paused' | 'off' | 'ended'
  readonly everyMs: number
  readonly timeoutMs: number
  readonly timezone: string
  readonly dedupe: { readonly by: string; readonly forMs: number | null }
  readonly pauseAfter: number | null
  readonly nextAt: Instant | null
  readonly pollingSinceAt: Instant | null
  readonly pause: { readonly by: string; readonly note: string; readonly untilAt: Instant | null } | null
  readonly polls: number
  readonly found: number
  readonly failures: number
  readonly lagMs: number
  readonly lastPollAt: Instant | null
  readonly lastSuccessAt: Instant | null
  readonly lastFoundAt: Instant | null
  readonly last: Evaluation | null
}

/** The schema SensorPreview of the API. */
export type SensorPreview = {
  readonly kind: 'trigger' | 'no-trigger' | 'error'
  readonly reason: string | null
  readonly observations: readonly { readonly isNew: boolean; readonly [other: string]: unknown }[]
  readonly more: boolean
  readonly before: unknown
  readonly after: unknown
}

/** The schema SensorWithState of the API. */
export type SensorWithState = {
  readonly name: string
  readonly type: string
  readonly job: string
  readonly condition: 'waiting' | 'ok' | 'failing' | 'broken' | 'paused' | 'off' | 'ended'
  readonly everyMs: number
  readonly timeoutMs: number
  readonly timezone: string
  readonly dedupe: { readonly by: string; readonly forMs: number | null }
  readonly pauseAfter: number | null
  readonly nextAt: Instant | null
  readonly pollingSinceAt: Instant | null
  readonly pause: { readonly by: string; readonly note: string; readonly untilAt: Instant | null } | null
  readonly polls: number
  readonly found: number
  readonly failures: number
  readonly lagMs: number
  readonly lastPollAt: Instant | null
  readonly lastSuccessAt: Instant | null
  readonly lastFoundAt: Instant | null
  readonly last: Evaluation | null
  readonly state: unknown
}

/** The schema Service of the API. */
export type Service = {
  readonly service: string
  readonly lastRunTimestamp: number | null
  readonly intervalSeconds: number
  readonly nextDueTimestamp: number | null
}

/** The schema Session of the API. */
export type Session = {
  readonly actor: string
  readonly role: 'read' | 'operate' | 'admin'
  readonly readOnly: boolean
  readonly mounted: boolean
  readonly signedIn: boolean
}

/** The schema SimulatedSpan of the API. */
export type SimulatedSpan = {
  readonly at: Instant
  readonly runs: number
  readonly failed: number
  readonly maxRunning: number
  readonly maxWaiting: number
}

/** The schema SimulatedTrigger of the API. */
export type SimulatedTrigger = {
  readonly trigger: string
  readonly runs: number
  readonly failed: number
  readonly late: Lateness
  readonly notRun: Readonly<Record<string, number>>
  readonly knownRuns: number
  readonly pausedAt: Instant | null
}

/** The schema Simulation of the API. */
export type Simulation = {
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly seed: number
  readonly processes: number
  readonly concurrency: number
  readonly runs: number
  readonly failed: number
  readonly crashes: number
  readonly late: Lateness
  readonly maxRunning: Peak
  readonly maxWaiting: Peak
  readonly busiestMinute: Peak
  readonly used: number
  readonly triggers: readonly SimulatedTrigger[]
  readonly triggerCount: number
  readonly spanMs: number
  readonly spans: readonly SimulatedSpan[]
  readonly leftOut: readonly { readonly trigger: string; readonly why: string }[]
}

/** The schema SlaBreach of the API. */
export type SlaBreach = {
  readonly rule:
    | 'started-within'
    | 'finished-within'
    | 'finished-by'
    | 'not-older-than'
    | 'made-within'
    | 'made-by'
  readonly of: 'trigger' | 'round' | 'job' | 'asset'
  readonly name: string
  readonly trigger: string | null
  readonly job: string | null
  readonly run: string | null
  readonly partition: string | null
  readonly dueAt: Instant
  readonly deadlineAt: Instant
  readonly at: Instant
  readonly text: string
}

/** The schema StoredError of the API. */
export type StoredError = {
  readonly code: string
  readonly message: string
  readonly stack: string | null
  readonly details: unknown
}

/** The schema Token of the API. */
export type Token = {
  readonly id: string
  readonly name: string
  readonly role: 'read' | 'operate' | 'admin'
  readonly createdAt: Instant
  readonly expiresAt: Instant | null
}

/** The schema Trigger of the API. */
export type Trigger = {
  readonly name: string
  readonly job: string
  readonly state: 'on' | 'paused' | 'frozen' | 'switched off' | 'disabled' | 'over' | 'ended'
  readonly schedule: Schedule
  readonly nextAt: Instant | null
  readonly cursorAt: Instant
  readonly definedAt: Instant
  readonly active: boolean
  readonly enabled: boolean
  readonly source: string
  readonly version: number
  readonly revision: number
  readonly tag?: string
  readonly overlap: string
  readonly payload: unknown
  readonly [other: string]: unknown
}

/** The schema TriggerVersion of the API. */
export type TriggerVersion = {
  readonly version: number
  readonly validFromAt: Instant
  readonly validUntil: Instant | null
  readonly tzdata: string
  readonly trigger: { readonly name: string; readonly [other: string]: unknown }
}

/** The schema Why of the API. */
export type Why = {
  readonly trigger: string
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly explanations: readonly Explanation[]
  readonly beside: readonly RunBeside[]
  readonly breaches: readonly SlaBreach[]
  readonly more: boolean
  readonly earlier: number
}

/** The schema Worker of the API. */
export type Worker = {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly roles: readonly string[]
  readonly running: number
  readonly startedAt: Instant
  readonly leaseUntil: Instant
  readonly isDraining: boolean
  readonly standing: 'live' | 'late' | 'gone'
  readonly [other: string]: unknown
}

/** Every operation with its request and its answer. */
export interface Operations {
  /** Lists runs, the newest due instant first. */
  readonly 'GET /runs': {
    readonly request: {
      readonly query?: {
        readonly limit?: number
        readonly after?: string
        readonly before?: string
        readonly q?: string
        readonly state?: string
        readonly job?: string
        readonly trigger?: string
        readonly queue?: string
        readonly origin?: string
        readonly partition?: string
        readonly label?: string | readonly string[]
        readonly error?: string
        readonly message?: string
        readonly worker?: string
        readonly due?: string
        readonly since?: string
        readonly until?: string
        readonly late?: string
        readonly zone?: string
      }
    }
    readonly answer: {
      readonly items: readonly Run[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
      readonly previous: string | null
    }
  }
  /** Records a run of a job. */
  readonly 'POST /runs': {
    readonly request: {
      readonly body: {
        readonly job: string
        readonly payload?: unknown
        readonly at?: string
        readonly delay?: string
        readonly priority?: number
        readonly uniqueKey?: string
        readonly concurrencyKey?: string
        readonly partition?: string
        readonly uniqueFor?: string
        readonly debounce?: { readonly key: string; readonly wait: string; readonly max?: string }
        readonly throttle?: { readonly key: string; readonly per: string }
        readonly reason?: string
        readonly dryRun?: boolean
      }
    }
    readonly answer: { readonly id: string; readonly created: boolean }
  }
  /** Lists pending runs that should have started, the longest overdue first, with what they wait for. */
  readonly 'GET /runs/late': {
    readonly request: { readonly query?: { readonly limit?: number; readonly byMs?: number } }
    readonly answer: {
      readonly items: readonly { readonly run: Run; readonly pending: readonly unknown[] }[]
      readonly more: boolean
    }
  }
  /** Groups the newest 1,000 failed runs by the code and the shape of their errors. */
  readonly 'GET /runs/errors': {
    readonly request: {
      readonly query?: {
        readonly q?: string
        readonly state?: string
        readonly job?: string
        readonly trigger?: string
        readonly queue?: string
        readonly origin?: string
        readonly partition?: string
        readonly label?: string | readonly string[]
        readonly error?: string
        readonly message?: string
        readonly worker?: string
        readonly due?: string
        readonly since?: string
        readonly until?: string
        readonly late?: string
        readonly zone?: string
      }
    }
    readonly answer: {
      readonly items: readonly ErrorGroup[]
      readonly runs: { readonly count: number; readonly capped: boolean }
    }
  }
  /** Reads one run, by its id or the beginning of it. */
  readonly 'GET /runs/{id}': {
    readonly request: { readonly path: { readonly id: string } }
    readonly answer: Run
  }
  /** Lists the attempts of a run, oldest first. */
  readonly 'GET /runs/{id}/attempts': {
    readonly request: { readonly path: { readonly id: string } }
    readonly answer: { readonly items: readonly Attempt[] }
  }
  /** Reads the log of a run. */
  readonly 'GET /runs/{id}/logs': {
    readonly request: {
      readonly path: { readonly id: string }
      readonly query?: { readonly after?: number; readonly limit?: number; readonly follow?: string }
    }
    readonly answer: { readonly items: readonly LogLine[]; readonly next: number }
  }
  /** Returns why a run has not been started, the main reason first. */
  readonly 'GET /runs/{id}/pending': {
    readonly request: { readonly path: { readonly id: string } }
    readonly answer: { readonly reasons: readonly PendingReason[] }
  }
  /** Cancels a run: a pending one immediately, a running one as soon as its worker has stopped it. */
  readonly 'POST /runs/{id}/cancel': {
    readonly request: {
      readonly path: { readonly id: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: { readonly run: Run; readonly requested: boolean }
  }
  /** Makes a failed or cancelled run pending again, with all its tries. */
  readonly 'POST /runs/{id}/retry': {
    readonly request: {
      readonly path: { readonly id: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: Run
  }
  /** Makes a delayed run, or one that waits for its next attempt, claimable immediately. */
  readonly 'POST /runs/{id}/advance': {
    readonly request: {
      readonly path: { readonly id: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: Run
  }
  /** Lists triggers, by name or by their next due instant. */
  readonly 'GET /triggers': {
    readonly request: {
      readonly query?: {
        readonly limit?: number
        readonly after?: string
        readonly before?: string
        readonly order?: 'name' | 'next'
        readonly search?: string
        readonly job?: string
        readonly queue?: string
        readonly source?: string
        readonly state?: 'active' | 'paused' | 'ended' | 'any'
      }
    }
    readonly answer: {
      readonly items: readonly Trigger[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
      readonly previous: string | null
    }
  }
  /** Adds triggers, and new jobs for them; all or none. */
  readonly 'POST /triggers': {
    readonly request: {
      readonly body?: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly jobs?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
        readonly triggers?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
        readonly replace?: boolean
      }
    }
    readonly answer: { readonly jobs: readonly string[]; readonly triggers: readonly string[] }
  }
  /** Reads one trigger. */
  readonly 'GET /triggers/{name}': {
    readonly request: { readonly path: { readonly name: string } }
    readonly answer: Trigger
  }
  /** Ends a trigger that was added at run time; its pending runs are cancelled, its history stays. */
  readonly 'DELETE /triggers/{name}': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: { readonly name: string }
  }
  /** Changes options of a trigger that was added at run time. */
  readonly 'PATCH /triggers/{name}': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly options: Readonly<Record<string, unknown>>
        readonly days?: number
      }
    }
    readonly answer: {
      readonly trigger: Trigger
      readonly nextBefore: readonly Instant[]
      readonly nextAfter: readonly Instant[]
      readonly appear: readonly Instant[]
      readonly vanish: readonly Instant[]
      readonly moved: readonly { readonly from: Instant; readonly to: Instant }[]
      readonly capped: boolean
      readonly load: { readonly before: Load; readonly after: Load }
      readonly atOnce: { readonly runs: number; readonly skipped: readonly LedgerReason[] } | null
    }
  }
  /** Lists the next due instants of a trigger. */
  readonly 'GET /triggers/{name}/next': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly query?: { readonly count?: number; readonly zone?: string }
    }
    readonly answer: { readonly items: readonly { readonly at: Instant; readonly local: string }[] }
  }
  /** Lists the definitions that a trigger has had, oldest first. */
  readonly 'GET /triggers/{name}/versions': {
    readonly request: { readonly path: { readonly name: string } }
    readonly answer: { readonly items: readonly TriggerVersion[] }
  }
  /** Runs the job of a trigger now; its schedule does not change. */
  readonly 'POST /triggers/{name}/run': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean; readonly partition?: string }
    }
    readonly answer: { readonly id: string; readonly created: boolean }
  }
  /** Pauses a trigger, until an instant or until it is resumed. */
  readonly 'POST /triggers/{name}/pause': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean; readonly until?: string }
    }
    readonly answer: { readonly changed: boolean }
  }
  /** Resumes a trigger. */
  readonly 'POST /triggers/{name}/resume': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean; readonly catchUp?: boolean }
    }
    readonly answer: { readonly changed: boolean }
  }
  /** Compares the computed due instants of one trigger with the ledger. */
  readonly 'GET /triggers/{name}/coverage': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly query?: { readonly since?: string }
    }
    readonly answer: Coverage
  }
  /** Plans to run the due instants of a range again: which ones run, which ones are skipped, and why. */
  readonly 'POST /triggers/{name}/backfills': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly concurrency?: number
        readonly pace?: string
        readonly from: string
        readonly to: string
        readonly only?: 'missing' | 'failed' | 'missing-or-failed' | 'all'
        readonly definition?: 'in-force' | 'current'
        readonly order?: 'oldest-first' | 'newest-first'
        readonly limit?: number
        readonly start?: boolean
      }
    }
    readonly answer: {
      readonly backfill: Backfill | null
      readonly run: readonly { readonly at: Instant; readonly version: number }[]
      readonly skip: readonly {
        readonly firstAt: Instant
        readonly lastAt: Instant
        readonly count: number
        readonly reason:
          | 'done'
          | 'failed'
          | 'cancelled'
          | 'unfinished'
          | 'missing'
          | 'pruned'
          | 'blackout'
          | 'calendar'
          | 'no-partition'
          | 'clock-change'
          | 'not-defined'
          | 'disabled'
          | 'not-planned'
          | 'limit'
        readonly about: string
        readonly detail: string | null
      }[]
    }
  }
  /** Lists backfills of triggers and assets with their progress, newest first. */
  readonly 'GET /backfills': {
    readonly request: {
      readonly query?: { readonly trigger?: string; readonly asset?: string; readonly limit?: number }
    }
    readonly answer: { readonly items: readonly BackfillProgress[] }
  }
  /** Starts a backfill, if there is anything to produce. */
  readonly 'POST /backfills': {
    readonly request: {
      readonly body: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly asset: string
        readonly from?: string
        readonly to?: string
        readonly partitions?: readonly string[]
        readonly only?: 'missing' | 'failed' | 'missing-or-failed' | 'stale' | 'all'
        readonly order?: 'oldest-first' | 'newest-first'
        readonly limit?: number
        readonly concurrency?: number
        readonly pace?: string
        readonly plan?: string
      }
    }
    readonly answer: {
      readonly plan: string
      readonly run: readonly string[]
      readonly skip: readonly { readonly label: string; readonly reason: string }[]
      readonly backfill: Backfill | null
    }
  }
  /** Reads one backfill with its progress. */
  readonly 'GET /backfills/{id}': {
    readonly request: { readonly path: { readonly id: string } }
    readonly answer: BackfillProgress
  }
  /** Starts a planned backfill. If it is started twice, it still runs once. */
  readonly 'POST /backfills/{id}/start': {
    readonly request: {
      readonly path: { readonly id: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: Backfill
  }
  /** Cancels a backfill: its pending runs are cancelled, its running ones are asked to stop, and no more begin. */
  readonly 'POST /backfills/{id}/cancel': {
    readonly request: {
      readonly path: { readonly id: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: Backfill
  }
  /** Lists all jobs, by name. */
  readonly 'GET /jobs': {
    readonly request: { readonly query?: { readonly limit?: number; readonly after?: string } }
    readonly answer: {
      readonly items: readonly Job[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
    }
  }
  /** Adds jobs; all or none. */
  readonly 'POST /jobs': {
    readonly request: {
      readonly body?: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly jobs?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
        readonly replace?: boolean
      }
    }
    readonly answer: { readonly jobs: readonly string[]; readonly triggers: readonly string[] }
  }
  /** Reads one job. */
  readonly 'GET /jobs/{name}': {
    readonly request: { readonly path: { readonly name: string } }
    readonly answer: Job
  }
  /** Removes a job that was added at run time, or that its source no longer defines. */
  readonly 'DELETE /jobs/{name}': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: { readonly name: string }
  }
  /** Lists all queues, by name, with the number of waiting and running runs of each. */
  readonly 'GET /queues': {
    readonly request: { readonly query?: { readonly limit?: number; readonly after?: string } }
    readonly answer: {
      readonly items: readonly Queue[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
    }
  }
  /** Stops claims from a queue; runs in progress continue. */
  readonly 'POST /queues/{name}/pause': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean; readonly until?: string }
    }
    readonly answer: { readonly changed: boolean }
  }
  /** Allows claims from a queue again. */
  readonly 'POST /queues/{name}/resume': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: { readonly changed: boolean }
  }
  /** Lists the holds in force, newest first. */
  readonly 'GET /holds': {
    readonly request: {
      readonly query?: { readonly limit?: number; readonly after?: string; readonly target?: string }
    }
    readonly answer: {
      readonly items: readonly Hold[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
    }
  }
  /** Stops all ticks and claims in every process; runs in progress continue. */
  readonly 'POST /freeze': {
    readonly request: {
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean; readonly until?: string }
    }
    readonly answer: { readonly changed: boolean }
  }
  /** Ends a freeze. */
  readonly 'POST /thaw': {
    readonly request: {
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean; readonly catchUp?: boolean }
    }
    readonly answer: { readonly changed: boolean }
  }
  /** Lists the three kill switches. */
  readonly 'GET /switches': {
    readonly request: {}
    readonly answer: {
      readonly items: readonly {
        readonly name: 'pipeline' | 'scheduler' | 'worker'
        readonly isOn: boolean
        readonly hold: Hold | null
      }[]
    }
  }
  /** Turns a kill switch on or off, for every process. */
  readonly 'POST /switches/{name}': {
    readonly request: {
      readonly path: { readonly name: 'pipeline' | 'scheduler' | 'worker' }
      readonly body: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly until?: string
        readonly isOn: boolean
      }
    }
    readonly answer: { readonly changed: boolean }
  }
  /** Lists the processes that work on the store. */
  readonly 'GET /workers': {
    readonly request: { readonly query?: { readonly limit?: number; readonly after?: string } }
    readonly answer: {
      readonly items: readonly Worker[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
    }
  }
  /** Drains a process, or all processes of a host: they finish their runs and take no new ones. */
  readonly 'POST /workers/{target}/drain': {
    readonly request: {
      readonly path: { readonly target: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: {
      readonly items: readonly {
        readonly worker: Worker
        readonly outcome: 'changed' | 'already' | 'gone' | 'unable'
      }[]
    }
  }
  /** Ends the draining of a process, or of all processes of a host. */
  readonly 'POST /workers/{target}/undrain': {
    readonly request: {
      readonly path: { readonly target: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: {
      readonly items: readonly {
        readonly worker: Worker
        readonly outcome: 'changed' | 'already' | 'gone' | 'unable'
      }[]
    }
  }
  /** Makes every `rota up` read its config again and apply the changes. */
  readonly 'POST /reload': {
    readonly request: {
      readonly body?: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly app?: string
        readonly target?: string
        readonly waitMs?: number
      }
    }
    readonly answer: { readonly items: readonly ReloadedProcess[] }
  }
  /** Explains the due instants of a trigger between two instants. */
  readonly 'GET /why': {
    readonly request: {
      readonly query: { readonly trigger: string; readonly from: string; readonly until?: string }
    }
    readonly answer: Why
  }
  /** Compares the computed due instants with the ledger: the number of unexplained ones must be 0. */
  readonly 'GET /coverage': {
    readonly request: { readonly query?: { readonly trigger?: string; readonly since?: string } }
    readonly answer: { readonly items: readonly Coverage[] }
  }
  /** Counts the due instants of triggers by disposition and by day in UTC. */
  readonly 'GET /coverage/days': {
    readonly request: {
      readonly query?: {
        readonly trigger?: string | readonly string[]
        readonly days?: number
        readonly limit?: number
        readonly after?: string
      }
    }
    readonly answer: {
      readonly fromAt: Instant
      readonly untilAt: Instant
      readonly items: readonly { readonly trigger: string; readonly days: readonly CoveredDay[] }[]
      readonly next: string | null
    }
  }
  /** Lists ranges of due instants that did not become runs, the newest recorded first. */
  readonly 'GET /ledger': {
    readonly request: {
      readonly query?: {
        readonly limit?: number
        readonly before?: number
        readonly trigger?: string | readonly string[]
        readonly reason?: LedgerReason | readonly LedgerReason[]
        readonly from?: string
        readonly until?: string
      }
    }
    readonly answer: {
      readonly items: readonly LedgerEntry[]
      readonly breaches: readonly SlaBreach[]
      readonly next: number | null
    }
  }
  /** Lists breaches of the SLAs of triggers, rounds, jobs and assets, the newest first. */
  readonly 'GET /breaches': {
    readonly request: {
      readonly query?: {
        readonly limit?: number
        readonly trigger?: string
        readonly job?: string
        readonly from?: string
        readonly until?: string
      }
    }
    readonly answer: { readonly items: readonly SlaBreach[] }
  }
  /** Finds problems and says what to do about each. */
  readonly 'GET /doctor': {
    readonly request: {}
    readonly answer: { readonly items: readonly Finding[] }
  }
  /** Lists the next due instants of a cron expression, with the effect of daylight saving changes. */
  readonly 'POST /preview': {
    readonly request: {
      readonly body: {
        readonly expression: string
        readonly timezone?: string
        readonly dst?: 'vixie' | 'skip' | 'real-time'
        readonly from?: string
        readonly count?: number
      }
    }
    readonly answer: Preview
  }
  /** Lists changes, newest first: who, through what, what, why, before and after. */
  readonly 'GET /audit': {
    readonly request: {
      readonly query?: {
        readonly limit?: number
        readonly after?: string
        readonly actor?: string
        readonly action?: string
        readonly since?: string
        readonly target?: string
      }
    }
    readonly answer: { readonly items: readonly AuditEntry[]; readonly next: string | null }
  }
  /** Lists the changes of a trigger, newest first. */
  readonly 'GET /triggers/{name}/history': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly query?: {
        readonly limit?: number
        readonly after?: string
        readonly actor?: string
        readonly action?: string
        readonly since?: string
      }
    }
    readonly answer: { readonly items: readonly AuditEntry[]; readonly next: string | null }
  }
  /** Reads the rules and channels of alerts, what was sent last, what waits and what is quiet. */
  readonly 'GET /alerts': {
    readonly request: {}
    readonly answer: AlertStatus
  }
  /** Sends a test message through one channel of the serving app, or all of them, and returns the results. */
  readonly 'POST /alerts/test': {
    readonly request: {
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean; readonly channel?: string }
    }
    readonly answer: {
      readonly tests: readonly {
        readonly channel: string
        readonly kind: 'webhook' | 'slack' | 'discord' | 'command' | 'email'
        readonly sent: boolean
        readonly result: unknown
        readonly tookMs: number
      }[]
    }
  }
  /** Lists all assets, by name, with the assets that each depends on. */
  readonly 'GET /assets': {
    readonly request: { readonly query?: { readonly limit?: number; readonly after?: string } }
    readonly answer: {
      readonly items: readonly Asset[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
    }
  }
  /** Reads one asset. */
  readonly 'GET /assets/{name}': {
    readonly request: { readonly path: { readonly name: string } }
    readonly answer: Asset
  }
  /** Lists the states of the partitions of an asset: the newest ones, or those of a range. */
  readonly 'GET /assets/{name}/partitions': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly query?: {
        readonly from?: string
        readonly to?: string
        readonly newest?: number
        readonly state?: 'missing' | 'running' | 'done' | 'failed' | 'stale'
        readonly limit?: number
        readonly after?: string
      }
    }
    readonly answer: { readonly items: readonly Partition[]; readonly next: string | null }
  }
  /** Produces one partition of an asset now. */
  readonly 'POST /assets/{name}/materialize': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean; readonly partition?: string }
    }
    readonly answer: { readonly id: string; readonly created: boolean }
  }
  /** Defines when an asset is due; a schedule of the same name is replaced. */
  readonly 'PUT /assets/{name}/schedules/{schedule}': {
    readonly request: {
      readonly path: { readonly name: string; readonly schedule: string }
      readonly body: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly options: Readonly<Record<string, unknown>>
      }
    }
    readonly answer: { readonly name: string; readonly nextAt: Instant | null }
  }
  /** Ends a schedule of an asset; runs that are due already continue. */
  readonly 'DELETE /assets/{name}/schedules/{schedule}': {
    readonly request: {
      readonly path: { readonly name: string; readonly schedule: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: { readonly removed: boolean }
  }
  /** Says which partitions a backfill would produce, which it would skip, and why. */
  readonly 'POST /backfills/plan': {
    readonly request: {
      readonly body: {
        readonly asset: string
        readonly from?: string
        readonly to?: string
        readonly partitions?: readonly string[]
        readonly only?: 'missing' | 'failed' | 'missing-or-failed' | 'stale' | 'all'
        readonly order?: 'oldest-first' | 'newest-first'
        readonly limit?: number
      }
    }
    readonly answer: {
      readonly plan: string
      readonly run: readonly string[]
      readonly skip: readonly { readonly label: string; readonly reason: string }[]
    }
  }
  /** Starts an action on many runs: those of a filter, or those with these ids. */
  readonly 'POST /bulk': {
    readonly request: {
      readonly body: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly action: 'retry' | 'cancel' | 'run' | 'advance'
        readonly filter?: string
        readonly zone?: string
        readonly ids?: readonly string[]
        readonly limit?: number
      }
    }
    readonly answer: { readonly plan: BulkPlan; readonly bulk: Bulk | null }
  }
  /** Lists the actions on many runs of the last thirty days, the newest first. */
  readonly 'GET /bulk': {
    readonly request: { readonly query?: { readonly limit?: number; readonly after?: string } }
    readonly answer: { readonly items: readonly Bulk[]; readonly next: string | null }
  }
  /** Reads one action on many runs: what it does, and its progress. */
  readonly 'GET /bulk/{id}': {
    readonly request: { readonly path: { readonly id: string } }
    readonly answer: Bulk
  }
  /** Stops an action on many runs; its changes stay. */
  readonly 'POST /bulk/{id}/abort': {
    readonly request: {
      readonly path: { readonly id: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: { readonly bulk: Bulk; readonly wasRunning: boolean }
  }
  /** Lists the calendars, by name, with the triggers that use them. */
  readonly 'GET /calendars': {
    readonly request: { readonly query?: { readonly limit?: number; readonly after?: string } }
    readonly answer: {
      readonly items: readonly Calendar[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
    }
  }
  /** Reads one calendar and its next periods. */
  readonly 'GET /calendars/{name}': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly query?: { readonly count?: number; readonly zone?: string }
    }
    readonly answer: CalendarShown
  }
  /** Lists the command jobs that are not removed, by id. */
  readonly 'GET /command-jobs': {
    readonly request: { readonly query?: { readonly limit?: number; readonly after?: string } }
    readonly answer: {
      readonly items: readonly CommandJob[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
    }
  }
  /** Adds a command job, which a running engine schedules at once. */
  readonly 'POST /command-jobs': {
    readonly request: {
      readonly body: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly id?: string
        readonly type: 'recurring' | 'oneshot'
        readonly schedule?: string
        readonly executeAt?: string
        readonly command: string
        readonly userId?: string
        readonly metadata?: Readonly<Record<string, string>>
      }
    }
    readonly answer: CommandJob
  }
  /** Reads one command job, also one that was removed. */
  readonly 'GET /command-jobs/{id}': {
    readonly request: { readonly path: { readonly id: string } }
    readonly answer: CommandJob
  }
  /** Removes a command job: a run in progress finishes, pending runs are cancelled. */
  readonly 'DELETE /command-jobs/{id}': {
    readonly request: {
      readonly path: { readonly id: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: CommandJob
  }
  /** Runs a command job now; its schedule does not change. */
  readonly 'POST /command-jobs/{id}/run': {
    readonly request: {
      readonly path: { readonly id: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: { readonly id: string; readonly created: boolean }
  }
  /** Removes executed one-shots, which also happens once a day. */
  readonly 'POST /command-jobs/cleanup': {
    readonly request: { readonly body?: { readonly reason?: string; readonly dryRun?: boolean } }
    readonly answer: { readonly removed: readonly string[]; readonly executed: readonly string[] }
  }
  /** Writes all command jobs as the text of a jobs file, one JSON map per line. */
  readonly 'GET /command-jobs/export': {
    readonly request: {}
    readonly answer: { readonly text: string }
  }
  /** Adds the jobs of a text with one JSON map per line, and returns the result of each line. */
  readonly 'POST /command-jobs/import': {
    readonly request: {
      readonly body: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly text: string
        readonly strict?: boolean
      }
    }
    readonly answer: { readonly items: readonly ImportedLine[] }
  }
  /** Lists the plans that the app names, and other plans with entries in the store. */
  readonly 'GET /plans': {
    readonly request: { readonly query?: { readonly limit?: number; readonly after?: string } }
    readonly answer: {
      readonly items: readonly Plan[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
    }
  }
  /** Reads and checks a plan and the pipeline files of its future entries, and lists its entries. */
  readonly 'GET /plans/{plan}': {
    readonly request: { readonly path: { readonly plan: string } }
    readonly answer: {
      readonly name: string
      readonly timezone: string
      readonly entries: readonly PlanEntry[]
    }
  }
  /** Says what a pass of `rota schedule` over a plan would enqueue, what it would skip, and why. */
  readonly 'GET /plans/{plan}/pass': {
    readonly request: {
      readonly path: { readonly plan: string }
      readonly query?: { readonly windowMinutes?: number; readonly lookBackMinutes?: number }
    }
    readonly answer: {
      readonly enqueued: readonly {
        readonly jobId: string
        readonly runId: string
        readonly dueAt: Instant
      }[]
      readonly skipped: readonly {
        readonly jobId: string
        readonly runId: string
        readonly dueAt: Instant
        readonly code: 'entry_not_due' | 'entry_missed' | 'already_enqueued' | 'scheduler_disabled'
        readonly message: string
      }[]
    }
  }
  /** Enqueues one entry of a plan, also one that was missed. */
  readonly 'POST /plans/{plan}/entries/{id}/enqueue': {
    readonly request: {
      readonly path: { readonly plan: string; readonly id: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: {
      readonly jobId: string
      readonly runId: string
      readonly dueAt: Instant
      readonly outcome: 'enqueued' | 'already_enqueued'
    }
  }
  /** Lists the rounds, by name, with their last check or open cycle. */
  readonly 'GET /rounds': {
    readonly request: {
      readonly query?: { readonly limit?: number; readonly after?: string; readonly all?: string }
    }
    readonly answer: {
      readonly items: readonly Round[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
    }
  }
  /** Reads one round: its services, its last check or open cycle, and its next check. */
  readonly 'GET /rounds/{name}': {
    readonly request: { readonly path: { readonly name: string } }
    readonly answer: Round
  }
  /** Starts a round, or gives a running one another interval, list of services or SLA. */
  readonly 'PUT /rounds/{name}': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body?: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly every?: string | number
        readonly services?: readonly (string | { readonly job: string; readonly every?: string | number })[]
        readonly priority?: number
        readonly calendar?: Readonly<Record<string, unknown>>
        readonly blackouts?: readonly Readonly<Record<string, unknown>>[]
        readonly timezone?: string
        readonly sla?: Readonly<Record<string, unknown>>
      }
    }
    readonly answer: { readonly round: Round | null; readonly warning: string | null }
  }
  /** Restarts a stopped round; it continues with the remaining services. */
  readonly 'POST /rounds/{name}/start': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: { readonly round: Round | null; readonly warning: string | null }
  }
  /** Stops a round that was started at run time, after its current service. */
  readonly 'POST /rounds/{name}/stop': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: { readonly name: string; readonly stopped: boolean; readonly left: number }
  }
  /** Lists when services ran last and are due again, in Unix seconds. */
  readonly 'GET /services': {
    readonly request: {}
    readonly answer: { readonly items: readonly Service[] }
  }
  /** Reads when one service ran last and is due again. */
  readonly 'GET /services/{name}': {
    readonly request: { readonly path: { readonly name: string } }
    readonly answer: Service
  }
  /** Sets the interval of a service in all rounds. */
  readonly 'PUT /services/{name}/timing': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body: { readonly reason?: string; readonly dryRun?: boolean; readonly every: string | number }
    }
    readonly answer: Service
  }
  /** Lists all sensors, by name, with their condition. */
  readonly 'GET /sensors': {
    readonly request: { readonly query?: { readonly limit?: number; readonly after?: string } }
    readonly answer: {
      readonly items: readonly Sensor[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
    }
  }
  /** Reads one sensor with its state. */
  readonly 'GET /sensors/{name}': {
    readonly request: { readonly path: { readonly name: string } }
    readonly answer: SensorWithState
  }
  /** Lists the results of the polls and deliveries of a sensor, newest first. */
  readonly 'GET /sensors/{name}/evaluations': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly query?: { readonly limit?: number }
    }
    readonly answer: { readonly items: readonly Evaluation[] }
  }
  /** Polls a sensor once and changes nothing. */
  readonly 'POST /sensors/{name}/preview': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body?: { readonly state?: unknown; readonly limit?: number }
    }
    readonly answer: SensorPreview
  }
  /** Lets a sensor start again, or from a given state. */
  readonly 'POST /sensors/{name}/reset': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly body: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly forgetKeys: boolean
        readonly state?: unknown
      }
    }
    readonly answer: { readonly sensor: string; readonly forgotten: number | null }
  }
  /** Lists the tokens; their secrets are not stored and cannot be shown. */
  readonly 'GET /tokens': {
    readonly request: { readonly query?: { readonly limit?: number; readonly after?: string } }
    readonly answer: {
      readonly items: readonly Token[]
      readonly next: string | null
      readonly total: { readonly count: number; readonly capped: boolean }
    }
  }
  /** Creates a token. Only this answer contains its secret. */
  readonly 'POST /tokens': {
    readonly request: {
      readonly body: {
        readonly reason?: string
        readonly dryRun?: boolean
        readonly name: string
        readonly role: 'read' | 'operate' | 'admin'
        readonly expires?: string
      }
    }
    readonly answer: {
      readonly id: string
      readonly name: string
      readonly role: 'read' | 'operate' | 'admin'
      readonly createdAt: Instant
      readonly expiresAt: Instant | null
      readonly token: string | null
    }
  }
  /** Revokes a token and ends every session that was opened with it. */
  readonly 'DELETE /tokens/{id}': {
    readonly request: {
      readonly path: { readonly id: string }
      readonly body?: { readonly reason?: string; readonly dryRun?: boolean }
    }
    readonly answer: Token
  }
  /** Exchanges a token for the cookie of a session, for browsers. */
  readonly 'POST /session': {
    readonly request: { readonly body: { readonly token: string } }
    readonly answer: Caller
  }
  /** Ends the session of a browser. */
  readonly 'DELETE /session': {
    readonly request: {}
    readonly answer: { readonly ended: boolean }
  }
  /** Returns the caller, its role, and what the server allows. */
  readonly 'GET /session': {
    readonly request: {}
    readonly answer: Session
  }
  /** Returns how long the store keeps its data. */
  readonly 'GET /retention': {
    readonly request: {}
    readonly answer: { readonly items: readonly Kept[] }
  }
  /** Simulates the next days in memory, with the definitions and the history of the store. */
  readonly 'GET /simulation': {
    readonly request: {
      readonly query?: {
        readonly days?: number
        readonly processes?: number
        readonly concurrency?: number
        readonly crash?: string
        readonly unknown?: string
        readonly seed?: number
        readonly limit?: number
        readonly progress?: string
      }
    }
    readonly answer: Simulation
  }
  /** Streams which topics have changed, as server-sent events. */
  readonly 'GET /stream': {
    readonly request: {}
    readonly answer: string
  }
  /** Reads the state of the store as a text that changes when something visible changes. */
  readonly 'GET /pulse': {
    readonly request: {}
    readonly answer: { readonly id: string }
  }
  /** Reads the OpenAPI document of this server. */
  readonly 'GET /openapi.json': {
    readonly request: {}
    readonly answer: { readonly openapi: string; readonly [other: string]: unknown }
  }
  /** Shows the reference of this server as a page for people, without any script. */
  readonly 'GET /docs': {
    readonly request: {}
    readonly answer: string
  }
}
