import { fingerprint, type Source } from '../../engine/sync/sync.js'
import { factsOf, kindOf, type TriggerKinds } from '../../engine/trigger-kind.js'
import type { LedgerReason } from '../../kernel/ledger/ledger.js'
import { nextLook, scheduleOf, type ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { StoredTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import { DAY_MS, MINUTE_MS } from '../../time/civil.js'
import { explainOccurrence, type ClockChangeNote } from '../../time/cron/explain.js'
import { cronSchedule } from '../../time/cron/schedule.js'
import type { Instant } from '../../time/instant.js'
import { nextTurn } from '../../time/turn.js'
import { scheduleDiff } from './schedule-diff.js'

/** What a start with these definitions would change in the store, and in the next days. */
export interface DefinitionDiff {
  readonly source: string
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly jobs: NameDiff
  readonly triggers: readonly TriggerDiff[]
  readonly unchanged: number
  readonly load: { readonly before: Load; readonly after: Load }
  /** The runs that the first ticks create, and the ranges that they record. */
  readonly catchUp: readonly CatchUpAtOnce[]
}

/** The names that differ. */
export interface NameDiff {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/** One trigger that changes. */
export interface TriggerDiff {
  readonly name: string
  readonly kind: 'added' | 'removed' | 'changed'
  /** The fields that differ. */
  readonly fields: readonly string[]
  readonly appear: readonly DiffInstant[]
  readonly vanish: readonly DiffInstant[]
  /** Instants that are replaced by another one on the same day. */
  readonly moved: readonly { readonly from: Instant; readonly to: DiffInstant }[]
  /** Whether there are more instants than were compared. */
  readonly isCapped: boolean
}

/** An instant, and the clock change that moved or added it. */
export interface DiffInstant {
  readonly at: Instant
  readonly change: ClockChangeNote | undefined
}

/** How many due instants there are, and the minute that has the most. */
export interface Load {
  readonly instants: number
  readonly peak: number
  readonly peakAt: Instant | undefined
  /** Whether there are more than were counted. */
  readonly isCapped: boolean
}

/** The disposition of instants that are already due. */
export interface CatchUpAtOnce {
  readonly trigger: string
  readonly runs: number
  readonly skipped: readonly LedgerReason[]
}

/** Compares definitions with those of their source in the store. Writes nothing. */
export async function diffDefinitions(
  store: Store,
  source: Source,
  { kinds, now, days }: { readonly kinds: TriggerKinds; readonly now: Instant; readonly days: number },
): Promise<DefinitionDiff> {
  const untilAt = now + days * DAY_MS
  const stored = await store.triggers({ active: true })
  const own = new Map(
    stored.filter((one) => one.source === source.name).map((one) => [one.trigger.name, one]),
  )
  const known = await store.fingerprints(source.name)
  const anchored = source.triggers.map((trigger) => {
    const current = own.get(trigger.name)
    // A start does not change unchanged definitions: they get no new anchor, and a round gets no immediate check.
    if (current !== undefined && known.get(trigger.name) === fingerprint(trigger, kinds))
      return current.trigger
    return kindOf(kinds, trigger).anchor?.(trigger, current, now) ?? trigger
  })
  const window = { from: now, until: untilAt }
  const names = new Set(anchored.map(({ name }) => name))
  const removed = [...own.values()].filter(({ trigger }) => !names.has(trigger.name))
  const triggers = [
    ...anchored.flatMap((after) => triggerDiff(own.get(after.name)?.trigger, after, window)),
    ...removed.flatMap(({ trigger }) => triggerDiff(trigger, undefined, window)),
  ]
  const others = stored.filter((one) => one.source !== source.name).map(({ trigger }) => trigger)
  const before = [...own.values()].map(({ trigger }) => trigger)
  return {
    source: source.name,
    fromAt: now,
    untilAt,
    jobs: await jobDiff(store, source),
    triggers,
    unchanged: anchored.length - triggers.filter(({ kind }) => kind !== 'removed').length,
    load: await loadsOf({ others, before, after: anchored }, window),
    catchUp: await catchUpAtOnce(store, [...own.values()], { kinds, now }),
  }
}

/** The effect of a change of one trigger on the next days. */
export interface EditDiff extends Pick<TriggerDiff, 'appear' | 'vanish' | 'moved' | 'isCapped'> {
  readonly load: DefinitionDiff['load']
}

/** How far ahead the load of all triggers is counted at most, since a user waits for it. */
const mostLoadDays = 7

/** Compares a trigger before and after a change, as `diffDefinitions` does for a whole source. */
export async function diffEdit(
  store: Store,
  edited: { readonly before: Trigger; readonly after: Trigger },
  { now, days }: { readonly now: Instant; readonly days: number },
): Promise<EditDiff> {
  const { before, after } = edited
  const stored = await store.triggers({ active: true })
  const others = stored.map(({ trigger }) => trigger).filter(({ name }) => name !== before.name)
  const until = now + Math.min(days, mostLoadDays) * DAY_MS
  return {
    ...instantsDiff(before, after, { from: now, until: now + days * DAY_MS }),
    load: await loadsOf({ others, before: [before], after: [after] }, { from: now, until }),
  }
}

/** Whether nothing would change. */
export function isSame({ jobs, triggers }: DefinitionDiff): boolean {
  return triggers.length + jobs.added.length + jobs.changed.length + jobs.removed.length === 0
}

function triggerDiff(
  before: Trigger | undefined,
  after: Trigger | undefined,
  window: { readonly from: Instant; readonly until: Instant },
): readonly TriggerDiff[] {
  const name = (after ?? before)?.name ?? ''
  const fields = before === undefined || after === undefined ? [] : changedFields(before, after)
  if (before !== undefined && after !== undefined && fields.length === 0) return []
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
  return [{ name, kind, fields, ...instantsDiff(before, after, window) }]
}

function instantsDiff(
  before: Trigger | undefined,
  after: Trigger | undefined,
  window: { readonly from: Instant; readonly until: Instant },
): Pick<TriggerDiff, 'appear' | 'vanish' | 'moved' | 'isCapped'> {
  const nothing: ScheduleSpec = { kind: 'upstream', assets: [] }
  const specs = { before: scheduleIn(before) ?? nothing, after: scheduleIn(after) ?? nothing }
  const { appear, vanish, isCapped } = scheduleDiff(specs, window)
  return { ...paired(specs, { appear, vanish }), isCapped }
}

/** A disabled trigger is never due. */
function scheduleIn(trigger: Trigger | undefined): ScheduleSpec | undefined {
  return trigger?.enabled === true ? trigger.schedule : undefined
}

function changedFields(before: Trigger, after: Trigger): string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof Trigger)[]
  const differing = keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
  if (!differing.includes('schedule')) return differing
  const [old, fresh] = [before.schedule, after.schedule] as unknown as Record<string, unknown>[]
  // The first check of a changed round is listed as a new instant, not as a changed field.
  const parts = [...new Set([...Object.keys(old ?? {}), ...Object.keys(fresh ?? {})])].filter(
    (key) => key !== 'alsoAt' && JSON.stringify(old?.[key]) !== JSON.stringify(fresh?.[key]),
  )
  return [...parts.map((part) => `schedule.${part}`), ...differing.filter((key) => key !== 'schedule')]
}

/** On a day with as many new instants as lost ones, each lost one is moved to a new one. */
function paired(
  specs: { readonly before: ScheduleSpec; readonly after: ScheduleSpec },
  { appear, vanish }: { readonly appear: readonly Instant[]; readonly vanish: readonly Instant[] },
): Pick<TriggerDiff, 'appear' | 'vanish' | 'moved'> {
  const [fresh, lost] = [byDay(appear), byDay(vanish)]
  const isPaired = (at: Instant): boolean => {
    const day = Math.floor(at / DAY_MS)
    return fresh.get(day)?.length === lost.get(day)?.length
  }
  const [noteBefore, noteAfter] = [noteOf(specs.before), noteOf(specs.after)]
  const from = vanish.filter(isPaired)
  return {
    appear: appear.filter((at) => !isPaired(at)).map(noteAfter),
    vanish: vanish.filter((at) => !isPaired(at)).map(noteBefore),
    moved: appear.filter(isPaired).map((at, index) => ({ from: from[index] ?? at, to: noteAfter(at) })),
  }
}

function byDay(instants: readonly Instant[]): ReadonlyMap<number, readonly Instant[]> {
  const days = new Map<number, Instant[]>()
  for (const at of instants) {
    const day = Math.floor(at / DAY_MS)
    const known = days.get(day)
    if (known === undefined) days.set(day, [at])
    else known.push(at)
  }
  return days
}

function noteOf(spec: ScheduleSpec): (at: Instant) => DiffInstant {
  if (spec.kind !== 'cron') return (at) => ({ at, change: undefined })
  const schedule = cronSchedule(spec.expression, { timezone: spec.timezone, dst: spec.dst })
  return (at) => ({ at, change: explainOccurrence(schedule, at) })
}

async function jobDiff(store: Store, { name: source, jobs }: Source): Promise<NameDiff> {
  const stored = (await store.jobs()).filter((one) => one.source === source && one.job.ended !== true)
  const before = new Map(stored.map(({ job }) => [job.name, JSON.stringify(job)]))
  const names = new Set(jobs.map(({ name }) => name))
  return {
    added: jobs.filter(({ name }) => !before.has(name)).map(({ name }) => name),
    changed: jobs
      .filter((job) => before.has(job.name) && before.get(job.name) !== JSON.stringify(job))
      .map(({ name }) => name),
    removed: [...before.keys()].filter((name) => !names.has(name)),
  }
}

const mostInstants = 200_000
const instantsPerTurn = 2000

/** Due instants by minute. */
interface Counted {
  readonly minutes: Map<number, number>
  instants: number
}

/** The load before and after a change. Unchanged triggers are counted once. */
async function loadsOf(
  given: Readonly<Record<'others' | 'before' | 'after', readonly Trigger[]>>,
  window: { readonly from: Instant; readonly until: Instant },
): Promise<DefinitionDiff['load']> {
  const others = await count({ minutes: new Map(), instants: 0 }, given.others, window)
  const withOwn = async (own: readonly Trigger[]): Promise<Load> =>
    loadIn(await count({ minutes: new Map(others.minutes), instants: others.instants }, own, window))
  return { before: await withOwn(given.before), after: await withOwn(given.after) }
}

async function count(
  counted: Counted,
  triggers: readonly Trigger[],
  { from, until }: { readonly from: Instant; readonly until: Instant },
): Promise<Counted> {
  const { minutes } = counted
  for (const { schedule, enabled } of triggers) {
    if (!enabled) continue
    const computed = scheduleOf(schedule)
    let at = nextLook(schedule, computed, from)
    while (at !== undefined && at <= until && counted.instants < mostInstants) {
      const minute = Math.floor(at / MINUTE_MS)
      minutes.set(minute, (minutes.get(minute) ?? 0) + 1)
      if (++counted.instants % instantsPerTurn === 0) await nextTurn()
      at = nextLook(schedule, computed, at)
    }
  }
  return counted
}

function loadIn({ minutes, instants }: Counted): Load {
  let [peak, peakMinute] = [0, 0]
  for (const [minute, each] of minutes) if (each > peak) [peak, peakMinute] = [each, minute]
  const peakAt = peak === 0 ? undefined : peakMinute * MINUTE_MS
  return { instants, peak, peakAt, isCapped: instants >= mostInstants }
}

/** Plans the instants that are due now, without writing anything. */
export async function catchUpAtOnce(
  store: Store,
  own: readonly StoredTrigger[],
  { kinds, now }: { readonly kinds: TriggerKinds; readonly now: Instant },
): Promise<readonly CatchUpAtOnce[]> {
  const late = own.filter(({ nextAt }) => nextAt !== undefined && nextAt <= now)
  if (late.length === 0) return []
  const due = await store.dueByName({ names: late.map(({ trigger }) => trigger.name), now })
  const facts = await factsOf(store, due, { kinds, now, startedAt: now })
  return due.flatMap((one) => {
    const tick = kindOf(kinds, one.trigger).plan?.(one, facts.get(one.trigger.name), now)
    if (tick === undefined || tick.runs.length + tick.ranges.length === 0) return []
    const skipped = [...new Set(tick.ranges.map(({ reason }) => reason))]
    return [{ trigger: one.trigger.name, runs: tick.runs.length, skipped }]
  })
}
