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

/** Which due instants are made. One whose run is not finished never is. */
export type InstantChoice = 'missing' | 'failed' | 'missing-or-failed' | 'all'

/** The choices that a backfill may name. */
export const instantChoices = ['missing', 'failed', 'missing-or-failed', 'all'] as const

/** Why due instants are not made. */
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

/** Why due instants are not made, as a code. */
export type InstantSkip = keyof typeof instantSkips

/** A stretch of due instants that are not made for one reason. */
export interface SkippedInstants {
  readonly firstAt: Instant
  readonly lastAt: Instant
  /** How many they are; 0 where there are none because nothing was due. */
  readonly count: number
  readonly reason: InstantSkip
  /** The calendar, or what clocks did. */
  readonly detail: string | undefined
}

/** A due instant and the version of the trigger that decides about it. */
export interface PlannedInstant {
  readonly at: Instant
  readonly version: number
}

/** What a backfill of a trigger makes, oldest first, and what it leaves alone. */
export interface InstantsPlan {
  readonly run: readonly PlannedInstant[]
  readonly skip: readonly SkippedInstants[]
}

/** What a plan is made from. */
export interface PlanRequest {
  /** What decided at which time, oldest first. */
  readonly versions: readonly (TriggerVersion & { readonly instants: Schedule | undefined })[]
  readonly job: Job
  readonly fromAt: Instant
  readonly untilAt: Instant
  /** Up to here the trigger has decided; it decides about later instants itself. */
  readonly decidedUntil: Instant
  readonly recorded: RecordedInstants
  readonly only: InstantChoice
}

/** The most due instants that one backfill looks at. */
export const mostInstants = 10_000

/** Plans a backfill; undefined where there are more than `mostInstants` due instants. */
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

/** What clock changes dropped from a schedule. */
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

/** Stretches of skipped instants; neighbours with one reason are one stretch. */
class Skips {
  readonly list: SkippedInstants[] = []
  /** Whether the next instant may belong to the last stretch. */
  #isOpen = false

  /** An instant that is made lies between what was skipped before and what is skipped after it. */
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
