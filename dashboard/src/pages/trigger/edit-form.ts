/** What the edit dialog changes: the fields as text, and the options that differ from the trigger. */
import type { Trigger } from '../../../../src/client/operations.js'
import { cronOf } from './schedule.js'

/** The fields of the dialog; a trigger has either an expression or an interval. */
export interface EditFields {
  readonly cron: string
  readonly timezone: string
  /** Empty without an expression. */
  readonly dst: 'vixie' | 'skip' | 'real-time' | ''
  readonly every: string
  /** What an interval is measured from: a grid, or the end of the run before. Empty without an interval. */
  readonly after: 'grid' | 'finish' | ''
  readonly overlap: string
  readonly catchUp: string
}

/** The fields as the trigger has them. */
export function fieldsOf(trigger: Trigger): EditFields {
  const cron = cronOf(trigger)
  const { everyMs, kind } = trigger.schedule
  return {
    cron: cron?.expression ?? '',
    timezone: cron?.timezone ?? '',
    dst: cron?.dst ?? '',
    every: typeof everyMs === 'number' ? durationText(everyMs) : '',
    after: kind === 'after-finish' ? 'finish' : kind === 'interval' ? 'grid' : '',
    overlap: trigger.overlap,
    catchUp: catchUpOf(trigger)?.mode ?? '',
  }
}

/** The fields that say when; they are sent together, because one alone would bring back the defaults of the others. */
const timing = ['cron', 'timezone', 'dst', 'every', 'after'] as const

/** The options that a change would send: what differs, and with a part of the schedule all of it. */
export function optionsOf(before: EditFields, after: EditFields): Readonly<Record<string, string>> {
  const trimmed = Object.entries(after).map(([key, value]) => [key, value.trim()] as const)
  const isDifferent = ([key, value]: readonly [string, string]): boolean =>
    value !== before[key as keyof EditFields]
  const isTiming = ([key]: readonly [string, string]): boolean => timing.some((one) => one === key)
  const hasNewTime = trimmed.filter(isTiming).some(isDifferent)
  return Object.fromEntries(
    trimmed.filter((entry) => entry[1] !== '' && (isDifferent(entry) || (hasNewTime && isTiming(entry)))),
  )
}

/** A duration as a config file has it: the largest unit that divides it. */
export function durationText(ms: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ] as const
  const [unit, size] = units.find(([, one]) => ms >= one && ms % one === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}

/** The options as they are sent: a grid is the absence of another rule, and with a rule of catching up goes what belongs to it. */
export function sentOptions(
  fields: Readonly<Record<string, string>>,
  trigger: Trigger,
): Readonly<Record<string, unknown>> {
  const options = fields['after'] === 'grid' ? { ...fields, after: null } : fields
  const { catchUp: mode } = fields
  if (mode === undefined) return options
  const { maxAgeMs, maxRuns, graceMs } = catchUpOf(trigger) ?? {}
  const limits = {
    ...(graceMs == null ? {} : { grace: durationText(graceMs) }),
    ...(maxAgeMs == null || mode === 'skip' ? {} : { maxAge: durationText(maxAgeMs) }),
    ...(maxRuns == null || mode !== 'all' ? {} : { maxRuns }),
  }
  return { ...options, catchUp: { mode, ...limits } }
}

interface CatchUp {
  readonly mode?: string
  readonly maxAgeMs?: number | null
  readonly maxRuns?: number | null
  readonly graceMs?: number | null
}

function catchUpOf(trigger: Trigger): CatchUp | undefined {
  return trigger['catchUp'] as CatchUp | undefined
}
