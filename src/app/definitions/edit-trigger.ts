import { storedBlackouts, storedCalendars, withBlackouts } from '../../engine/sync/calendars.js'
import { pastSchedules } from '../../engine/sync/past-schedules.js'
import { define } from '../../engine/sync/sync.js'
import { findTrigger, unknownJob } from '../../engine/sync/find-definition.js'
import { timedKinds } from '../../engine/timed/kinds.js'
import { kindOf } from '../../engine/trigger-kind.js'
import type { DryRun } from '../../kernel/definition/dry-run.js'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { placeOf } from '../../kernel/definition/faults.js'
import type { Written } from '../../kernel/definition/read-value.js'
import { scheduleKinds, scheduleOptionNames } from '../../kernel/trigger/define-schedule.js'
import { readTrigger } from '../../kernel/trigger/define-trigger.js'
import type { ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { StoredTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { loadTriggerKinds } from '../features.js'
import { foreign, runTimeSource } from './definitions.js'

/** A trigger before and after a change. */
export interface EditedTrigger {
  readonly before: StoredTrigger
  readonly after: Trigger
}

/** Changes options of a trigger that was added at run time; omitted options do not change, and null removes one. */
export async function editTrigger(
  store: Store,
  request: { readonly name: string; readonly options: Written; readonly now: Instant } & DryRun,
): Promise<EditedTrigger> {
  const { name, options, now } = request
  const before = await findTrigger(store, name)
  refuseForeign(before)
  const given = await edited(store, before.trigger, options)
  // Blackouts that were not changed already include those of all sources.
  const after =
    options['blackouts'] === undefined ? given : withBlackouts(given, await storedBlackouts(store))
  refuse(`trigger ${name}`, await pastSchedules(store, [after], now))
  if (request.dryRun !== true) {
    const kinds = await loadTriggerKinds()
    await define(store, { kinds, source: runTimeSource, triggers: [after], now })
  }
  return { before, after }
}

function refuseForeign({ trigger, source, active }: StoredTrigger): void {
  const { name, schedule, round } = trigger
  if (!active) throw new RotaError('TRIGGER_UNKNOWN', `trigger ${name} has ended`)
  if (source !== runTimeSource) throw foreign('trigger', name, source)
  const isTimed = timedKinds.has(schedule.kind) && round === undefined
  if (!isTimed)
    throw new RotaError('DEFINITION_CONFLICT', `${name} is not due by time; change it where it is defined`)
}

/** The trigger with the given options: they are read as a whole definition, of which only the given ones are used. */
async function edited(store: Store, trigger: Trigger, options: Written): Promise<Trigger> {
  const jobs = (await store.jobs()).map(({ job }) => job)
  const jobName = (options['job'] ?? trigger.job) as string
  const job = jobs.find((one) => one.name === jobName)
  const isTimeGiven = scheduleOptionNames.some((option) => options[option] !== undefined)
  const input = withoutNull({ ...scheduleInput(trigger.schedule, options), job: jobName, ...options })
  const place = placeOf()
  const read = readTrigger(
    { name: trigger.name, input, asset: job?.asset, defaults: { calendars: await storedCalendars(store) } },
    place,
  )
  refuse(`trigger ${trigger.name}`, place.faults)
  if (job === undefined) {
    throw unknownJob(
      jobName,
      jobs.map((one) => one.name),
    )
  }
  const whole = read as Trigger
  const given = Object.keys(options).flatMap((option) => fieldOf[option] ?? [])
  const taken = Object.fromEntries(given.map((field) => [field, whole[field]]))
  const after: Trigger = {
    ...trigger,
    ...taken,
    job: jobName,
    ...(isTimeGiven ? { schedule: withRules(trigger.schedule, whole.schedule, options) } : {}),
  }
  kindOf(timedKinds, after).checkJob?.(after, job, place)
  refuse(`trigger ${trigger.name}`, place.faults)
  return after
}

/** Keeps the calendars and blackouts that are not given: they are stored as times, not as options. */
function withRules(before: ScheduleSpec, after: ScheduleSpec, options: Written): ScheduleSpec {
  const old = before.calendar
  if (old === undefined) return after
  const { calendar: given, ...schedule } = after
  const timezone = given?.timezone ?? ('timezone' in schedule ? schedule.timezone : old.timezone)
  const { blackouts: oldBlackouts, ...oldCalendars } = old
  const { blackouts: newBlackouts, ...newCalendars } = given ?? {}
  const blackouts = options['blackouts'] === undefined ? oldBlackouts : newBlackouts
  const calendars = options['calendar'] === undefined ? oldCalendars : newCalendars
  const kept = { ...calendars, timezone, ...(blackouts === undefined ? {} : { blackouts }) }
  return Object.keys(kept).length === 1 ? schedule : { ...schedule, calendar: kept }
}

/** The fields of a trigger that options set besides its schedule. */
const fieldOf: Readonly<Record<string, keyof Trigger>> = {
  payload: 'payload',
  partition: 'partition',
  catchUp: 'catchUp',
  overlap: 'overlap',
  jitter: 'jitterMs',
  spread: 'spreadMs',
  priority: 'priority',
  enabled: 'enabled',
  labels: 'labels',
  pauseAfter: 'pauseAfter',
  alerts: 'alerts',
  sla: 'sla',
  ping: 'ping',
}

/** The stored schedule as options, unless the given ones have a schedule. */
function scheduleInput(schedule: ScheduleSpec, options: Written): Written {
  const { startAt, count } = schedule
  // The end of a limited number is computed again.
  const endAt = count === undefined ? schedule.endAt : undefined
  const bounds = {
    ...(count === undefined ? {} : { count }),
    ...(startAt === undefined ? {} : { start: formatInstant(startAt) }),
    ...(endAt === undefined ? {} : { end: formatInstant(endAt) }),
  }
  const isGiven = (option: string): boolean => options[option] !== undefined && options[option] !== null
  const isInterval = schedule.kind === 'interval' || schedule.kind === 'after-finish'
  // Another interval stays on the same grid, or is measured from the same end.
  if (isInterval && !scheduleKinds.some((kind) => kind !== 'every' && isGiven(kind))) {
    return { ...intervalInput(schedule, options), ...bounds }
  }
  // Another expression is read in the same zone.
  if (isGiven('cron') && schedule.kind === 'cron') {
    return { timezone: schedule.timezone, dst: schedule.dst, ...bounds }
  }
  if (scheduleKinds.some(isGiven)) return {}
  switch (schedule.kind) {
    case 'cron': {
      const { expression: cron, timezone, dst } = schedule
      return { cron, timezone, dst, ...bounds }
    }
    case 'once':
      return { at: formatInstant(schedule.at) }
    case 'interval':
    case 'after-finish':
    case 'sensor':
    case 'upstream':
      return {}
  }
}

/** An interval as options. What is to be measured from the end of a run lies on no grid. */
function intervalInput(
  schedule: Extract<ScheduleSpec, { kind: 'interval' | 'after-finish' }>,
  options: Written,
): Written {
  const { kind, everyMs, immediate } = schedule
  const anchorAt = kind === 'interval' && options['after'] !== 'finish' ? schedule.anchorAt : undefined
  return {
    every: everyMs,
    immediate,
    ...(kind === 'after-finish' ? { after: 'finish' } : {}),
    ...(anchorAt === undefined ? {} : { anchor: formatInstant(anchorAt) }),
  }
}

function withoutNull(options: Written): Written {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null))
}
