/**
 * What a trigger promises about its runs. The tick that makes a run also writes its deadlines, as state entries whose
 * names sort by time: whoever looks for deadlines that are over reads the first ones, and never the history.
 */
import { fault, shown, within, type Place } from '../definition/faults.js'
import type { Json } from '../definition/json.js'
import { readDuration, readOptions } from '../definition/read-value.js'
import type { RunId } from '../identity/identity.js'
import type { NewRun } from '../run/run.js'
import type { StateChange, StateEntry } from '../state/state-entry.js'
import { MAX_DURATION_MS } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'

/** How soon after its due instant a run begins and ends. */
export interface Sla {
  readonly startedWithinMs?: number | undefined
  readonly finishedWithinMs?: number | undefined
}

/** An SLA as a person writes it: at least one of the two. */
export interface SlaInput {
  /** How soon after its due instant a run begins, such as `5m`. */
  readonly startedWithin?: string | number | undefined
  /** How soon after its due instant a run ends, such as `1h`. */
  readonly finishedWithin?: string | number | undefined
}

/** Which promise was broken. */
export type SlaRule = 'started-within' | 'finished-within'

const bounds = { min: 1, max: MAX_DURATION_MS, allowed: 'from 1ms to 36525d' }

/** Reads the option `sla`; faults are noted at the place. */
export function readSla(value: unknown, place: Place): Sla | undefined {
  if (value === undefined) return undefined
  const input = readOptions(value, ['startedWithin', 'finishedWithin'], place)
  if (input === undefined) return undefined
  const startedWithinMs = readDuration(input['startedWithin'], bounds, within(place, 'startedWithin'))
  const finishedWithinMs = readDuration(input['finishedWithin'], bounds, within(place, 'finishedWithin'))
  if (input['startedWithin'] === undefined && input['finishedWithin'] === undefined)
    return fault(place, 'it promises nothing', 'startedWithin, finishedWithin or both')
  if (
    startedWithinMs !== undefined &&
    finishedWithinMs !== undefined &&
    finishedWithinMs <= startedWithinMs
  ) {
    const message = `${shown(input['finishedWithin'])} contradicts \`startedWithin\` (${shown(input['startedWithin'])}): a run may not have begun by then`
    return fault(within(place, 'finishedWithin'), message, 'longer than startedWithin')
  }
  return {
    ...(startedWithinMs === undefined ? {} : { startedWithinMs }),
    ...(finishedWithinMs === undefined ? {} : { finishedWithinMs }),
  }
}

/** A deadline of a run. */
export interface Deadline {
  readonly rule: SlaRule
  readonly trigger: string
  readonly job: string
  readonly run: RunId
  readonly dueAt: Instant
  readonly deadlineAt: Instant
}

/** The entries that a tick writes with its runs. */
export function deadlineChanges(
  { name, sla }: { readonly name: string; readonly sla?: Sla | undefined },
  runs: readonly NewRun[],
): readonly StateChange[] {
  const promises = [
    ['started-within', sla?.startedWithinMs],
    ['finished-within', sla?.finishedWithinMs],
  ] as const
  return runs.flatMap(({ id: run, job, dueAt }) =>
    promises.flatMap(([rule, withinMs]): StateChange[] => {
      if (withinMs === undefined) return []
      const deadlineAt = dueAt + withinMs
      const value = { rule, trigger: name, job, run, dueAt, deadlineAt }
      return [{ kind: 'deadline', name: sortable(deadlineAt), item: `${run} ${rule}`, value }]
    }),
  )
}

/** Reads the entry of a deadline. */
export function deadlineOf({ value }: StateEntry): Deadline {
  return value as unknown as Deadline
}

/** A promise that was broken: the fact that stays. */
export interface Breach extends Deadline {
  /** When it was found. */
  readonly at: Instant
}

/** The entry of a breach. Entries of a trigger sort by due instant. */
export function breachChange(breach: Breach): StateChange {
  const item = `${sortable(breach.dueAt)} ${breach.rule}`
  return { kind: 'breach', name: breach.trigger, item, value: breach as unknown as Json }
}

/** Reads the entry of a breach. */
export function breachOf({ value }: StateEntry): Breach {
  return value as unknown as Breach
}

/** A text that sorts as the instant does. */
export function sortable(at: Instant): string {
  return String(Math.max(0, at)).padStart(16, '0')
}

/** One sentence about a breach. */
export function breachText(
  { rule, dueAt, deadlineAt }: Pick<Breach, 'rule' | 'dueAt' | 'deadlineAt'>,
  time: (at: Instant) => string,
): string {
  const what = rule === 'started-within' ? 'had not begun' : 'had not ended'
  return `the run that was due at ${time(dueAt)} ${what} by ${time(deadlineAt)}, as its SLA promises`
}
