/**
 * How old the last success may be. One entry for each definition that promises it has the last success and the deadline
 * that is being watched. A success writes itself into the entry, in the transaction of its end; the deadline is moved
 * only when it is over. So a success costs one write, and time costs one look for each `notOlderThan`.
 */
import type { Json } from '../definition/json.js'
import type { StateChange, StateKey } from '../state/state-entry.js'
import type { Instant } from '../../time/instant.js'
import { deadlineChange, type Breach, type Deadline } from './deadline.js'

/** What is known about the last success of something. */
export interface Freshness {
  readonly withinMs: number
  /** The last success; while there is none, when it was promised. */
  readonly lastAt: Instant
  readonly isFirst: boolean
  /** The deadline that is watched. */
  readonly deadlineAt: Instant
  /** The `lastAt` that was found to be too old already. */
  readonly judgedAt: Instant | null
  /** Earlier values of `lastAt` that were too old when the next success came, and that nobody has judged. */
  readonly late: readonly { readonly lastAt: Instant; readonly isFirst: boolean }[]
}

/** Whose freshness it is. */
export type FreshSubject = Pick<Deadline, 'of' | 'name' | 'trigger' | 'job'>

/** How many gaps are remembered while nobody judges. */
const mostLate = 20

/** The key of the entry of a trigger, round or job, by the name under which its entries stand. */
export function freshnessKey(subject: string): StateKey {
  return { kind: 'promise', name: subject, item: 'not-older-than' }
}

/** A promise that begins now, or one whose length has changed. */
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

/** What a deadline that is over comes to: the breaches that nobody has told yet, and what is watched next. */
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

/** The entry of a promise, and that of the deadline that is watched for it. */
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
