import type { Instant } from '../../time/instant.js'
import type { AuditEntry } from '../audit/audit.js'
import { boundText } from '../definition/bounds.js'
import type { StoredError } from '../run/run.js'

/** How a run of a trigger ended, if it has ended. */
export interface PastRun {
  readonly isFailed: boolean
  /** Whether it is done or failed: a cancelled run says nothing about its job. */
  readonly counts: boolean
  readonly finishedAt: Instant | undefined
}

/** The actor when a trigger is paused by its `pauseAfter`. */
export const autoPauseActor = 'rota'

/** How many runs besides the counted ones are read, before and after the one that failed. */
export const pastRunsBeside = 100

/** Whether the last `pauseAfter` runs of a trigger since it was last resumed all failed. The runs are newest first. */
export function isFailingInARow(
  runs: readonly PastRun[],
  { pauseAfter, sinceAt }: { readonly pauseAfter: number; readonly sinceAt: Instant | undefined },
): boolean {
  const counted = runs
    .filter(({ counts, finishedAt }) => counts && (sinceAt === undefined || (finishedAt ?? 0) > sinceAt))
    .slice(0, pauseAfter)
  return counted.length === pauseAfter && counted.every(({ isFailed }) => isFailed)
}

/** The hold that pauses a trigger by its own rule, and its audit entry. */
export function autoPause(input: {
  readonly trigger: string
  readonly pauseAfter: number
  /** The failed run that reached the limit. */
  readonly run: { readonly id: string; readonly attempt: number }
  readonly error: StoredError | undefined
  readonly at: Instant
}) {
  const { trigger, pauseAfter, run, error, at } = input
  const count = pauseAfter === 1 ? '1 run failed' : `${pauseAfter} runs in a row failed`
  const last = error === undefined ? '' : `, the last one: ${boundText(error.message, longestMessage)}`
  const note = `${count}${last}`
  const target = `trigger:${trigger}` as const
  const entry: Omit<AuditEntry, 'before' | 'after'> = {
    id: `auto-pause:${run.id}:${run.attempt}`,
    at,
    actor: autoPauseActor,
    via: 'rule',
    action: 'trigger.pause',
    target,
    reason: note,
  }
  return { hold: { target, now: at, actor: autoPauseActor, note }, entry }
}

const longestMessage = 500
