/** Which due instants of a trigger a backfill runs, which it skips, and why. It only reads. */
import { exclusionAt } from '../../kernel/calendar/calendar.js'
import { partitionAt } from '../../kernel/identity/occurrence.js'
import type { Job } from '../../kernel/job/job.js'
import type { LedgerReason } from '../../kernel/ledger/ledger.js'
import type { TriggerVersion } from '../../kernel/trigger/trigger.js'
import { clockChangeNotes } from '../../time/cron/explain.js'
import { cronSchedule } from '../../time/cron/schedule.js'
import type { Instant } from '../../time/instant.js'
import type { Schedule } from '../../time/schedule.js'
import type { RecordedInstants } from './recorded-instants.js'

/** Which due instants are repeated. One whose run is unfinished never is. */
export type InstantChoice = 'missing' | 'failed' | 'missing-or-failed' | 'all'

/** The choices that a backfill may name. */
export const instantChoices = ['missing', 'failed', 'missing-or-failed', 'all'] as const

/** Why due instants are skipped. */
export const instantSkips = {
  done: 'their runs are done',
  failed: 'their runs have failed',
  cancelled: 'their runs were cancelled',
  unfinished: 'their runs have not ended',
  missing: 'they have no run',
  pruned: 'their runs were removed by retention',
  blackout: 'they lie in a blackout',
  calendar: 'a calendar excludes them',
  'no-partition': 'the asset has no partition for them',
  'clock-change': 'clocks skip or repeat them',
  'not-defined': 'the trigger was not defined then',
  disabled: 'the trigger was disabled then',
  'not-planned': 'the trigger decides about them itself',
  limit: 'they are beyond the limit',
} as const

/** Why due instants are skipped, as a code. */
export type InstantSkip = keyof typeof instantSkips

/** Consecutive due instants that are skipped for one reason. */
export interface SkippedInstants {
  readonly firstAt: Instant
  readonly lastAt: Instant
  /** How many there are; 0 if nothing was due. */
  readonly count: number
  readonly reason: InstantSkip
  /** The calendar, or the clock change. */
  readonly detail: string | undefined
}

/** A due instant and the version of the trigger that decides about it. */
export interface PlannedInstant {
  readonly at: Instant
  readonly version: number
}

/** The due instants that a backfill repeats, oldest first, and those that it skips. */
export interface InstantsPlan {
  readonly run: readonly PlannedInstant[]
  readonly skip: readonly SkippedInstants[]
}

/** The input of a plan. */
export interface PlanRequest {
  /** The versions of the trigger, oldest first. */
  readonly versions: readonly (TriggerVersion & { readonly instants: Schedule | undefined })[]
  readonly job: Job
  readonly fromAt: Instant
  readonly untilAt: Instant
  /** The cursor of the trigger: it still decides about later instants itself. */
  readonly decidedUntil: Instant
  readonly recorded: RecordedInstants
  readonly only: InstantChoice
}

/** The most due instants that one backfill may cover. */
export const mostInstants = 10_000

/** Plans a backfill; undefined if there are more than `mostInstants` due instants. */
export function planInstants(request: PlanRequest): InstantsPlan | undefined {
  const { fromAt, decidedUntil } = request
  const untilAt = Math.min(request.untilAt, decidedUntil)
  const run: PlannedInstant[] = []
  const skips = new Skips()
  let looked = 0
  let reached = fromAt - 1
  for (const version of request.versions) {
    const after = Math.max(version.validFrom, fromAt - 1)
    const until = Math.min(version.validUntil ?? Infinity, untilAt)
    if (until <= after) continue
    if (after > reached) skips.none({ firstAt: reached + 1, lastAt: after, reason: 'not-defined' })
    reached = until
    if (!version.trigger.enabled || version.instants === undefined) {
      skips.none({ firstAt: after + 1, lastAt: until, reason: 'disabled' })
      continue
    }
    for (const note of droppedBetween(version, { after, until })) skips.none(note)
    for (let at = version.instants.next(after); at !== undefined && at <= until; ) {
      if (++looked > mostInstants) return undefined
      const skipped = reasonAt(request, version, at)
      if (skipped !== undefined) skips.add(at, skipped)
      else {
        run.push({ at, version: version.version })
        skips.end()
      }
      at = version.instants.next(at)
    }
  }
  if (untilAt > reached) skips.none({ firstAt: reached + 1, lastAt: untilAt, reason: 'not-defined' })
  if (request.untilAt > untilAt)
    skips.none({ firstAt: Math.max(untilAt + 1, fromAt), lastAt: request.untilAt, reason: 'not-planned' })
  return { run, skip: skips.list }
}

interface Skipped {
  readonly reason: InstantSkip
  readonly detail?: string | undefined
}

function reasonAt(
  { recorded, only, job }: PlanRequest,
  { trigger }: TriggerVersion,
  at: Instant,
): Skipped | undefined {
  const { calendar } = trigger.schedule
  const by = calendar === undefined ? undefined : exclusionAt(calendar, at).by
  if (by !== undefined) return { reason: excludedBy(by.reason), detail: by.detail }
  if (job.asset !== undefined && partitionAt(trigger, job, at) === undefined)
    return { reason: 'no-partition' }
  const state = recorded.stateAt(at)
  if (isChosen(state, only)) return undefined
  return { reason: state === 'pending' || state === 'running' ? 'unfinished' : state }
}

function excludedBy(reason: LedgerReason): InstantSkip {
  return reason === 'blackout' ? 'blackout' : 'calendar'
}

function isChosen(state: ReturnType<RecordedInstants['stateAt']>, only: InstantChoice): boolean {
  const isFailed = state === 'failed' || state === 'cancelled'
  switch (only) {
    case 'missing':
      return state === 'missing'
    case 'failed':
      return isFailed
    case 'missing-or-failed':
      return state === 'missing' || isFailed
    case 'all':
      return state !== 'pending' && state !== 'running'
  }
}

/** The due instants that clock changes removed from a schedule. */
function droppedBetween(
  { trigger: { schedule } }: TriggerVersion,
  window: { readonly after: Instant; readonly until: Instant },
): Omit<SkippedInstants, 'count'>[] {
  if (schedule.kind !== 'cron') return []
  const { expression, timezone, dst } = schedule
  return clockChangeNotes(cronSchedule(expression, { timezone, dst }), window)
    .filter(({ kind }) => kind === 'dropped')
    .map(({ changeAt, cause, firstLocal }) => ({
      firstAt: changeAt,
      lastAt: changeAt,
      reason: 'clock-change',
      detail: `${firstLocal} ${cause === 'gap' ? 'does not exist' : 'comes twice'} in ${timezone}`,
    }))
}

/** Collects skipped instants; neighbours with the same reason become one entry. */
class Skips {
  readonly list: SkippedInstants[] = []
  /** Whether the next instant may join the last entry. */
  #isOpen = false

  /** Closes the last entry, because an instant that is repeated follows it. */
  end(): void {
    this.#isOpen = false
  }

  add(at: Instant, { reason, detail }: Skipped): void {
    const last = this.list.at(-1)
    if (this.#isOpen && last?.reason === reason && last.detail === detail)
      this.list[this.list.length - 1] = { ...last, lastAt: at, count: last.count + 1 }
    else this.list.push({ firstAt: at, lastAt: at, count: 1, reason, detail })
    this.#isOpen = true
  }

  none(stretch: Omit<SkippedInstants, 'count' | 'detail'> & { readonly detail?: string | undefined }): void {
    this.list.push({ ...stretch, detail: stretch.detail, count: 0 })
    this.#isOpen = false
  }
}
