/**
 * Notices of problems. A notice is a state entry. It is written in the transaction of its subject, or just before it by
 * a step that is repeated after a crash, so none is lost. A notice is written only while a rule watches its kind.
 */
import { boundText } from '../definition/bounds.js'
import type { Json } from '../definition/json.js'
import type { RunId } from '../identity/identity.js'
import type { EndedRun } from '../run/end-effect.js'
import { quarantinedReason } from '../run/run.js'
import type { StateChange, StateKey } from '../state/state-entry.js'
import type { Tick } from '../tick/tick.js'
import { formatInstant, type Instant } from '../../time/instant.js'

/** What an alert can be about. */
export const alertKinds = [
  'failure',
  'quarantined',
  'recovery',
  'missed',
  'sla',
  'paused',
  'sensor-behind',
  'worker-lost',
] as const

/** One of the things that an alert can be about. */
export type AlertKind = (typeof alertKinds)[number]

/** One problem, or the end of one, that a rule watches for. */
export interface AlertNotice {
  readonly on: AlertKind
  readonly at: Instant
  readonly job: string | null
  readonly trigger: string | null
  readonly run: RunId | null
  readonly dueAt: Instant | null
  /** One sentence for people. */
  readonly text: string
}

/** The names of jobs that send alerts begin with this; their own failures cause no alerts. */
export const alertJobPrefix = 'alert:'

/** The entry that lists, by source, which kinds of notices are watched. */
export const watchKey: StateKey = { kind: 'alert', name: 'watch', item: '' }

/** The name of the entries that are notices. */
export const newNotices = 'new'

/** Whether the entry under `watchKey` asks for a kind of notice. */
export function isWatched(watch: Json | undefined, on: AlertKind): boolean {
  return Object.values((watch ?? {}) as Record<string, readonly AlertKind[]>).some((kinds) =>
    kinds.includes(on),
  )
}

/** The change that writes a notice; writing the same id twice leaves one notice. */
export function noticeChange(notice: AlertNotice, id: string): StateChange {
  const value = { ...notice, text: boundText(notice.text, longestText) }
  return { kind: 'alert', name: newNotices, item: `${notice.on} ${id}`, value }
}

const longestText = 1000

/** The notice of a run that finally failed, if a rule watches for it; another failure after a retry is another one. */
export function failureNotice(
  { id, job, trigger, dueAt, at, error, reason }: EndedRun,
  watch: Json | undefined,
): StateChange | undefined {
  const on = reason === quarantinedReason ? 'quarantined' : 'failure'
  if (job.startsWith(alertJobPrefix) || !isWatched(watch, on)) return undefined
  const text = error?.message ?? reason ?? 'it failed'
  return noticeChange({ on, at, job, trigger: trigger ?? null, run: id, dueAt, text }, `${id} ${at}`)
}

/** The notice of a trigger that Rota paused after failures, if a rule watches for it. */
export function autoPauseNotice(
  paused: {
    readonly trigger: string
    readonly job: string
    readonly run: RunId
    readonly at: Instant
    readonly note: string
  },
  watch: Json | undefined,
): StateChange | undefined {
  const { trigger, job, run, at, note } = paused
  if (!isWatched(watch, 'paused')) return undefined
  const text = `Rota paused it: ${note}`
  return noticeChange({ on: 'paused', at, job, trigger, run, dueAt: null, text }, `${trigger} ${run} ${at}`)
}

/** The notice of due instants that a tick found too late to run, if a rule watches for it. */
export function missedNotice(
  { trigger, revision, at, ranges }: Pick<Tick, 'trigger' | 'revision' | 'at' | 'ranges'>,
  watch: Json | undefined,
): StateChange | undefined {
  const missed = ranges.filter(({ reason }) => reason === 'missed')
  const [first] = missed
  if (first === undefined || !isWatched(watch, 'missed')) return undefined
  const lastAt = Math.max(...missed.map((range) => range.lastAt))
  const when =
    first.firstAt === lastAt
      ? `what was due at ${formatInstant(lastAt)}`
      : `what was due from ${formatInstant(first.firstAt)} to ${formatInstant(lastAt)}`
  const text = `${when} was missed and does not run (${first.rule})`
  const notice = { on: 'missed', at, job: null, trigger, run: null, dueAt: first.firstAt, text } as const
  return noticeChange(notice, `${trigger} ${revision}`)
}
