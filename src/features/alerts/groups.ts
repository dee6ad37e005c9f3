/**
 * How notices become messages. For each rule and each subject there is one entry, which counts the notices since the
 * last message. The first notice sets when the message is due; after a message the subject is quiet for a while.
 * Everything here is pure: the loop stores what is decided, and compares revisions.
 */
import type { AlertKind, AlertNotice } from '../../kernel/alert/notice.js'
import type { Instant } from '../../time/instant.js'
import type { StoredRule } from './rules.js'

/** What is known about one subject of one rule. */
export interface About {
  /** Notices that are in no message yet, by kind. */
  readonly counts: Readonly<Partial<Record<AlertKind, number>>>
  /** The newest of them. */
  readonly examples: readonly AlertNotice[]
  /** When they are sent; null if there are none. */
  readonly sendAt: Instant | null
  /** Until when nothing is sent about it. */
  readonly quietUntil: Instant | null
  /** The failure that nothing has recovered from; null if the last run was done. */
  readonly failing: AlertNotice | null
}

/** Nothing is known. */
export const nothingKnown: About = { counts: {}, examples: [], sendAt: null, quietUntil: null, failing: null }

const mostExamples = 3

/** How many notices wait for a message. */
export function countOf({ counts }: Pick<About, 'counts'>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** The subject of a notice: a quiet time applies to one kind of problem of one job or trigger. */
export function subjectOf({ on, trigger, job, text }: AlertNotice): string {
  const isEnd = on === 'failure' || on === 'quarantined' || on === 'recovery'
  const name = trigger ?? job ?? (on === 'worker-lost' ? 'workers' : text)
  return `${isEnd ? 'failure' : on} ${name}`
}

/** An entry after a notice. */
export function withNotice(about: About, notice: AlertNotice, rule: StoredRule, now: Instant): About {
  const { counts, examples, sendAt, quietUntil } = about
  const { on } = notice
  const wantsRecovery = rule.on.includes('recovery')
  const failing = on === 'recovery' ? null : isFailure(on) && wantsRecovery ? notice : about.failing
  // A recovery is reported at once, and so is the next failure after it.
  const isQuiet = on !== 'recovery' && quietUntil !== null && quietUntil > now
  const dueAt = isQuiet ? quietUntil : now + rule.groupMs
  return {
    counts: { ...counts, [on]: (counts[on] ?? 0) + 1 },
    examples: [...examples, notice].slice(-mostExamples),
    sendAt: on === 'recovery' ? dueAt : (sendAt ?? dueAt),
    quietUntil: on === 'recovery' ? null : quietUntil,
    failing,
  }
}

function isFailure(on: AlertKind): boolean {
  return on === 'failure' || on === 'quarantined'
}

/** An entry after its notices were sent; undefined if nothing needs to be remembered. */
export function afterSending(
  about: About,
  rule: Pick<StoredRule, 'quietMs'>,
  now: Instant,
): About | undefined {
  const hasRecovered = about.failing === null && about.counts.recovery !== undefined
  const quietUntil = rule.quietMs === 0 || hasRecovered ? null : now + rule.quietMs
  const { failing } = about
  return quietUntil === null && failing === null ? undefined : { ...nothingKnown, quietUntil, failing }
}

/** Whether an entry waits to be sent. If one of its rule is due, all that are not quiet are sent with it. */
export function isWaiting(about: About, now: Instant): boolean {
  return about.sendAt !== null && (about.quietUntil === null || about.quietUntil <= now)
}

/** Whether an entry can be forgotten. */
export function isOver(about: About, now: Instant): boolean {
  return about.sendAt === null && about.failing === null && (about.quietUntil ?? 0) <= now
}
