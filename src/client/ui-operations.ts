// Made by `npm run docs:api` from the routes; do not edit.

/** The schema ClockChange of the API. */
export type ClockChange = {
  readonly kind: 'moved' | 'added' | 'dropped'
  readonly cause: 'gap' | 'overlap'
  readonly changeAt: Instant
  readonly firstLocal: string
  readonly lastLocal: string
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

/** The schema Hold of the API. */
export type Hold = {
  readonly target: string
  readonly fromAt: Instant
  readonly untilAt: Instant | null
  readonly by: string
  readonly note: string
  readonly catchUp: boolean
}

/** The schema Instant of the API. */
export type Instant = string

/** The schema Lane of the API. */
export type Lane = {
  readonly trigger: Trigger
  readonly timezone: string | null
  readonly marks: readonly RunMark[] | null
  readonly buckets: readonly RunTally[] | null
  readonly ranges: readonly {
    readonly version: number
    readonly firstAt: Instant
    readonly lastAt: Instant
    readonly reason: LedgerReason
    readonly rule: string
    readonly blocker: string | null
    readonly detail: string | null
    readonly recordedAt: Instant
  }[]
  readonly holds: readonly Hold[]
  readonly versions: readonly {
    readonly version: number
    readonly validFromAt: Instant
    readonly validUntil: Instant | null
    readonly tzdata: string
  }[]
  readonly due: readonly {
    readonly at: Instant
    readonly change: ClockChange | null
    readonly excluded: LedgerReason | null
  }[]
  readonly dueUntil: Instant
}

/** The schema LateRun of the API. */
export type LateRun = {
  readonly id: string
  readonly job: string
  readonly trigger: string | null
  readonly origin: 'trigger' | 'enqueue' | 'manual' | 'sensor' | 'round' | 'upstream' | 'backfill'
  readonly state: RunState
  readonly reason: string | null
  readonly dueAt: Instant
  readonly runAt: Instant
  readonly startedAt: Instant | null
  readonly finishedAt: Instant | null
  readonly attempt: number
  readonly failures: number
  readonly partition: string | null
  readonly worker: string | null
  readonly waitsFor: string | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly pending: readonly PendingReason[]
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

/** The schema Missed of the API. */
export type Missed = {
  readonly trigger: string
  readonly ranges: number
  readonly firstAt: Instant
  readonly lastAt: Instant
  readonly rule: string
  readonly detail: string | null
  readonly catchUp: {
    readonly graceMs: number
    readonly maxAgeMs: number | null
    readonly maxRuns: number
  } | null
  readonly recordedAt: Instant
  readonly seq: number
}

/** The schema Now of the API. */
export type Now = {
  readonly at: Instant
  readonly troubled: {
    readonly items: readonly RunBrief[]
    readonly more: boolean
    readonly lookedAt: number | null
  }
  readonly missed: { readonly items: readonly Missed[]; readonly more: boolean }
  readonly late: { readonly items: readonly LateRun[]; readonly more: boolean }
  readonly running: { readonly items: readonly RunningRun[]; readonly more: boolean }
  readonly queues: readonly Queue[]
  readonly workers: { readonly live: number; readonly running: number; readonly slots: number | null }
  readonly holds: readonly Hold[]
  readonly upcoming: Upcoming
  readonly day: Series
}

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

/** The schema QueryHelp of the API. */
export type QueryHelp = {
  readonly faults: readonly {
    readonly from: number
    readonly to: number
    readonly message: string
    readonly allowed: string | null
  }[]
  readonly from: number
  readonly to: number
  readonly options: readonly { readonly text: string; readonly about: string }[]
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

/** The schema RunBrief of the API. */
export type RunBrief = {
  readonly id: string
  readonly job: string
  readonly trigger: string | null
  readonly origin: 'trigger' | 'enqueue' | 'manual' | 'sensor' | 'round' | 'upstream' | 'backfill'
  readonly state: RunState
  readonly reason: string | null
  readonly dueAt: Instant
  readonly runAt: Instant
  readonly startedAt: Instant | null
  readonly finishedAt: Instant | null
  readonly attempt: number
  readonly failures: number
  readonly partition: string | null
  readonly worker: string | null
  readonly waitsFor: string | null
  readonly error: { readonly code: string; readonly message: string } | null
}

/** The schema RunMark of the API. */
export type RunMark = {
  readonly id: string
  readonly state: RunState
  readonly dueAt: Instant
  readonly startedAt: Instant | null
  readonly finishedAt: Instant | null
}

/** The schema RunState of the API. */
export type RunState = 'pending' | 'running' | 'done' | 'failed' | 'cancelled'

/** The schema RunTally of the API. */
export type RunTally = {
  readonly bucketAt: Instant
  readonly pending: number
  readonly running: number
  readonly done: number
  readonly failed: number
  readonly cancelled: number
}

/** The schema RunningRun of the API. */
export type RunningRun = {
  readonly id: string
  readonly job: string
  readonly trigger: string | null
  readonly origin: 'trigger' | 'enqueue' | 'manual' | 'sensor' | 'round' | 'upstream' | 'backfill'
  readonly state: RunState
  readonly reason: string | null
  readonly dueAt: Instant
  readonly runAt: Instant
  readonly startedAt: Instant | null
  readonly finishedAt: Instant | null
  readonly attempt: number
  readonly failures: number
  readonly partition: string | null
  readonly worker: string | null
  readonly waitsFor: string | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly usual: UsualDuration | null
}

/** The schema Schedule of the API. */
export type Schedule = { readonly kind: string; readonly [other: string]: unknown }

/** The schema Series of the API. */
export type Series = {
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly bucketMs: number
  readonly items: readonly SeriesPoint[]
  readonly total: {
    readonly done: number
    readonly failed: number
    readonly cancelled: number
    readonly durations: Times | null
    readonly lateness: Times | null
  }
}

/** The schema SeriesPoint of the API. */
export type SeriesPoint = {
  readonly bucketAt: Instant
  readonly key: string | null
  readonly done: number
  readonly failed: number
  readonly cancelled: number
  readonly durations: Times | null
  readonly lateness: Times | null
}

/** The schema StoredError of the API. */
export type StoredError = {
  readonly code: string
  readonly message: string
  readonly stack: string | null
  readonly details: unknown
}

/** The schema Timeline of the API. */
export type Timeline = {
  readonly at: Instant
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly bucketMs: number
  readonly lanes: readonly Lane[]
  readonly unknown: readonly string[]
  readonly holds: readonly Hold[]
}

/** The schema Times of the API. */
export type Times = {
  readonly runs: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
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

/** The schema Upcoming of the API. */
export type Upcoming = {
  readonly untilAt: Instant
  readonly count: number
  readonly isCapped: boolean
  readonly minutes: readonly { readonly at: Instant; readonly count: number }[]
  readonly instants: readonly UpcomingInstant[]
}

/** The schema UpcomingInstant of the API. */
export type UpcomingInstant = {
  readonly at: Instant
  readonly count: number
  readonly triggers: readonly {
    readonly name: string
    readonly job: string
    readonly change: ClockChange | null
    readonly usual: UsualDuration | null
  }[]
}

/** The schema UsualDuration of the API. */
export type UsualDuration = { readonly runs: number; readonly medianMs: number; readonly p95Ms: number }

/** The schema Year of the API. */
export type Year = {
  readonly trigger: string
  readonly timezone: string
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly dueUntil: Instant
  readonly days: readonly YearDay[]
}

/** The schema YearDay of the API. */
export type YearDay = {
  readonly date: string
  readonly fromAt: Instant
  readonly pending: number
  readonly running: number
  readonly done: number
  readonly failed: number
  readonly cancelled: number
  readonly ranges: Readonly<Record<string, number>>
  readonly due: number
}

/** Every operation with its request and its answer. */
export interface UiOperations {
  /** Reads problems, running runs and upcoming runs. */
  readonly 'GET /ui/now': {
    readonly request: {}
    readonly answer: Now
  }
  /** Removes the missed instants of a trigger from the first page, for all users. */
  readonly 'POST /ui/missed/looked': {
    readonly request: {
      readonly body: { readonly trigger: string; readonly seq: number; readonly insteadOf?: number }
    }
    readonly answer: { readonly trigger: string; readonly seq: number; readonly before: number }
  }
  /** Counts the runs that ended between two instants, with their durations and delays. */
  readonly 'GET /ui/series': {
    readonly request: {
      readonly query: {
        readonly from: string
        readonly until?: string
        readonly bucketMs?: number
        readonly by?: 'job' | 'queue'
        readonly job?: string | readonly string[]
      }
    }
    readonly answer: Series
  }
  /** Reads the lanes of triggers: runs, ranges without runs, holds, versions, and upcoming instants. */
  readonly 'GET /ui/timeline': {
    readonly request: {
      readonly query: {
        readonly lanes: string | readonly string[]
        readonly from: string
        readonly until: string
      }
    }
    readonly answer: Timeline
  }
  /** Reads a calendar year of a trigger, by day in its zone or in another one. */
  readonly 'GET /ui/trigger/{name}/year': {
    readonly request: {
      readonly path: { readonly name: string }
      readonly query?: { readonly year?: number; readonly zone?: string }
    }
    readonly answer: Year
  }
  /** Reads the newest runs of triggers, newest first. */
  readonly 'GET /ui/recent': {
    readonly request: {
      readonly query: { readonly triggers: string | readonly string[]; readonly each?: number }
    }
    readonly answer: {
      readonly items: readonly { readonly trigger: string; readonly runs: readonly RunMark[] }[]
    }
  }
  /** Returns the faults of a filter of runs, and completions at the cursor. */
  readonly 'GET /ui/runs/filter': {
    readonly request: {
      readonly query: { readonly q: string; readonly cursor?: number; readonly zone?: string }
    }
    readonly answer: QueryHelp
  }
  /** Reads the group of failed runs of the same job to which the error of a run belongs. */
  readonly 'GET /ui/runs/{id}/alike': {
    readonly request: { readonly path: { readonly id: string } }
    readonly answer: { readonly group: ErrorGroup | null; readonly capped: boolean }
  }
  /** Says how many attempts jobs allow; a job that nobody defines any more is left out. */
  readonly 'GET /ui/attempts': {
    readonly request: { readonly query: { readonly jobs: string | readonly string[] } }
    readonly answer: { readonly items: readonly { readonly job: string; readonly attempts: number }[] }
  }
}
