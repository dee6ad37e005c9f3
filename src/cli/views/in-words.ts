import type { Hold } from '../../kernel/hold/hold.js'
import type { Job } from '../../kernel/job/job.js'
import type { LedgerRange } from '../../kernel/ledger/ledger.js'
import type { ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import { formatDuration } from '../../time/duration.js'
import { shownIdLength } from '../../app/runs/short-ids.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { shellWord } from '../framework/print/shell-word.js'
import type { TimeText } from '../framework/print/time-text.js'

/** When a trigger is due, in a few words. */
export function scheduleText(schedule: ScheduleSpec): string {
  switch (schedule.kind) {
    case 'cron':
      return schedule.timezone === 'UTC' ? schedule.expression : `${schedule.expression} ${schedule.timezone}`
    case 'interval':
      return `every ${formatDuration(schedule.everyMs)}`
    case 'after-finish':
      return `${formatDuration(schedule.everyMs)} after finish`
    case 'once':
      return `once ${formatInstant(schedule.at)}`
    case 'sensor':
      if (isHeard(schedule)) return 'heard by webhook'
      return `${schedule.type} polled every ${formatDuration(schedule.everyMs)}`
    case 'upstream':
      return `after ${schedule.assets.join(', ')}`
  }
}

/** Whether a sensor waits for what others deliver: nothing is looked for, so that its polls are nobody's concern. */
export function isHeard(schedule: ScheduleSpec): boolean {
  return schedule.kind === 'sensor' && schedule.type === 'webhook'
}

/** Which piece of data a due instant is about, in a few words. */
export function partitionText(partition: StoredTrigger['trigger']['partition']): string | undefined {
  if (typeof partition !== 'object') return partition
  return 'label' in partition ? `always ${partition.label}` : `the slice of ${partition.key}`
}

/** What a job does, in a few words. */
export function handlerText(handler: Job['handler']): string {
  switch (handler.kind) {
    case 'function':
      return 'function'
    case 'module':
      return moduleText(handler)
    case 'shell':
      return handler.argv.map(shellWord).join(' ')
    case 'http':
      return `${handler.method ?? (handler.body === undefined ? 'GET' : 'POST')} ${handler.url}`
    case 'pipeline':
      return handler.path === undefined ? 'pipeline of the run' : `pipeline ${handler.path}`
  }
}

function moduleText({ module, export: name, isolate }: Extract<Job['handler'], { kind: 'module' }>): string {
  const where = isolate === undefined ? '' : ` in a ${isolate.kind} of its own`
  return `${name} of ${module}${where}`
}

/** Whether a trigger ticks, and what keeps it from it. */
export type TriggerState = 'on' | 'paused' | 'frozen' | 'switched off' | 'disabled' | 'over' | 'ended'

/** How a trigger stands, given the holds in force. */
export function triggerState(
  { trigger, active, nextAt, chainRun }: StoredTrigger,
  holds: readonly Hold[],
): TriggerState {
  const targets = new Set<string>(holds.map((hold) => hold.target))
  if (!active) return 'ended'
  if (!trigger.enabled) return 'disabled'
  if (targets.has('switch:pipeline') || targets.has('switch:scheduler')) return 'switched off'
  if (targets.has('all')) return 'frozen'
  if (targets.has(`trigger:${trigger.name}`)) return 'paused'
  const isWaited = trigger.schedule.kind === 'upstream'
  return nextAt === undefined && chainRun === undefined && !isWaited ? 'over' : 'on'
}

/** What became of a range of due instants, and which rule decided. */
export function rangeText(range: LedgerRange, times: TimeText): string {
  return `${span(range.firstAt, range.lastAt, times)}: ${reasonText(range)}`
}

function span(firstAt: Instant, lastAt: Instant, times: TimeText): string {
  if (firstAt === lastAt) return `due ${times.full(firstAt)}`
  return `due ${times.full(firstAt)} to ${times.full(lastAt)}`
}

/** Why a range did not run. */
export function reasonText({ reason, rule, blocker, detail }: LedgerRange, short = shortId): string {
  const other = blocker === undefined ? 'another run' : `run ${short(blocker)}`
  const told = detail === undefined || detail === '' ? '' : ` (${detail})`
  switch (reason) {
    case 'missed':
      if (rule === 'partition:none') return 'the asset has no partition for it'
      return detail === undefined ? `missed, nothing was running then (${rule})` : `missed${told}`
    case 'collapsed':
      return rule === 'round:check'
        ? `collapsed into the check of ${detail ?? ''} (${rule})`
        : `collapsed into ${other} (${rule})`
    case 'overlap':
      return `skipped, ${other} was unfinished (${rule})`
    case 'paused':
      return `the trigger was paused${told}`
    case 'frozen':
      return `everything was frozen${told}`
    case 'switch':
      return `a kill switch was off${told}`
    case 'pruned':
      return `ran and was pruned since${told}`
    case 'checked':
      return rule === 'round:later' ? `left out after the check${told}` : `the round was checked${told}`
  }
}

/** The beginning of a run's id that log lines show, which are written without asking the store. */
export function shortId(id: string): string {
  return id.slice(0, shownIdLength)
}

/** A number with its noun. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
