/**
 * How old the last success may be. Each definition with such a promise has one entry with the last success and the
 * deadline that is watched. A success updates the entry in the transaction of its end; the deadline moves only when it
 * has passed. So a success costs one write, and the passage of time costs one look for each `notOlderThan`.
 */
import type { Json } from '../definition/json.js'
import type { StateChange, StateKey } from '../state/state-entry.js'
import type { Instant } from '../../time/instant.js'
import { deadlineChange, type Breach, type Deadline } from './deadline.js'

/** The last success of a trigger, round or job, and its deadline. */
export interface Freshness {
  readonly withinMs: number
  /** The last success; before the first one, the time of the definition. */
  readonly lastAt: Instant
  readonly isFirst: boolean
  /** The deadline that is watched. */
  readonly deadlineAt: Instant
  /** The `lastAt` that was already found to be too old. */
  readonly judgedAt: Instant | null
  /** Earlier values of `lastAt` that were too old when the next success came, and are not judged yet. */
  readonly late: readonly { readonly lastAt: Instant; readonly isFirst: boolean }[]
}

/** The subject of a freshness promise. */
export type FreshSubject = Pick<Deadline, 'of' | 'name' | 'trigger' | 'job'>

/** How many unjudged gaps are stored. */
const mostLate = 20

/** The key of the entry of a trigger, round or job, from its subject key. */
export function freshnessKey(subject: string): StateKey {
  return { kind: 'promise', name: subject, item: 'not-older-than' }
}

/** The entry of a new promise, or of one whose duration has changed. */
export function newFreshness(withinMs: number, now: Instant, before?: Freshness): Freshness {
  if (before === undefined)
    return { withinMs, lastAt: now, isFirst: true, deadlineAt: now + withinMs, judgedAt: null, late: [] }
  return { ...before, withinMs, deadlineAt: Math.max(now, before.lastAt + withinMs) }
}

/** The entry after a success. */
export function afterSuccess(known: Freshness, at: Instant): Freshness {
  const { lastAt, isFirst, withinMs, judgedAt } = known
  const isLate = at > lastAt + withinMs && judgedAt !== lastAt
  return {
    ...known,
    lastAt: Math.max(lastAt, at),
    isFirst: false,
    late: isLate ? [...known.late, { lastAt, isFirst }].slice(-mostLate) : known.late,
  }
}

/** Judges a passed deadline: returns the breaches that were not reported yet, and the next entry. */
export function judgeFreshness(
  known: Freshness,
  subject: FreshSubject,
  now: Instant,
): { readonly breaches: readonly Breach[]; readonly next: Freshness } {
  const { lastAt, isFirst, withinMs, judgedAt } = known
  const isOver = now > lastAt + withinMs
  const found = [...known.late, ...(isOver && judgedAt !== lastAt ? [{ lastAt, isFirst }] : [])]
  const deadlineAt = isOver ? now + withinMs : lastAt + withinMs
  return {
    breaches: found.map((one) => ({ ...freshDeadline({ ...known, ...one }, subject), at: now })),
    next: { ...known, deadlineAt, judgedAt: isOver ? lastAt : judgedAt, late: [] },
  }
}

/** Writes the entry of a promise, and the deadline that is watched for it. */
export function freshnessChanges(
  known: Freshness,
  { subject, key, revision }: { subject: FreshSubject; key: string; revision: number },
): readonly StateChange[] {
  const watched = { ...freshDeadline(known, subject), deadlineAt: known.deadlineAt }
  return [{ ...freshnessKey(key), revision, value: known as unknown as Json }, deadlineChange(watched)]
}

function freshDeadline(
  { lastAt, isFirst, withinMs }: Pick<Freshness, 'lastAt' | 'isFirst' | 'withinMs'>,
  subject: FreshSubject,
): Deadline {
  return {
    ...subject,
    rule: 'not-older-than',
    run: null,
    partition: null,
    dueAt: lastAt,
    deadlineAt: lastAt + withinMs,
    withinMs,
    isFirst,
  }
}
