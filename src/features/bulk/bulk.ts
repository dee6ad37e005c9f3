import type { Json } from '../../kernel/definition/json.js'
import { fingerprintOf, randomRunId, type RunId } from '../../kernel/identity/identity.js'
import type { Run } from '../../kernel/run/run.js'
import type { StateKey } from '../../kernel/state/state-entry.js'
import type { Instant } from '../../time/instant.js'

/** The actions on many runs. */
export const bulkActions = ['retry', 'cancel', 'run', 'advance'] as const

/** One of them. */
export type BulkAction = (typeof bulkActions)[number]

/** The most runs of one bulk. */
export const mostItems = 10_000

/** How many ids one state entry has. */
export const idsPerPart = 500

/** A stored bulk: the action, who started it, and its progress. */
export interface Bulk {
  readonly id: string
  readonly action: BulkAction
  /** The filter as it was given; null if ids were given. */
  readonly filter: string | null
  readonly reason: string | null
  /** Who started it. */
  readonly by: string
  /** `failed`: it is over, and some runs could not be changed. */
  readonly state: 'running' | 'done' | 'failed' | 'aborted'
  readonly total: number
  /** How many runs were processed: the next batch begins here. */
  readonly next: number
  /** How many runs were changed. */
  readonly done: number
  /** How many were skipped, by reason. */
  readonly skipped: Readonly<Record<string, number>>
  /** How many could not be changed, with the newest errors. */
  readonly failed: number
  readonly errors: readonly { readonly run: RunId; readonly message: string }[]
  readonly createdAt: Instant
  readonly endedAt: Instant | null
}

/** Why a run is skipped. */
export const skipReasons = {
  'not-final': 'it is not failed or cancelled',
  'not-over': 'it is not final',
  final: 'it is already final',
  'not-waiting': 'it is not waiting for a later time',
  absent: 'it no longer exists',
  'job-unknown': 'no source defines its job',
} as const

/** Why a run is skipped, as a code. */
export type SkipReason = keyof typeof skipReasons

/** The result for one run. */
export type ItemEnd = 'done' | SkipReason | { readonly failed: string }

/** How many errors a bulk keeps. */
const mostErrors = 20

/** The bulk after a batch. */
export function afterBatch(bulk: Bulk, ids: readonly RunId[], ends: readonly ItemEnd[], now: Instant): Bulk {
  const skipped: Record<string, number> = { ...bulk.skipped }
  const errors = [...bulk.errors]
  let { done, failed } = bulk
  for (const [i, end] of ends.entries()) {
    if (end === 'done') done += 1
    else if (typeof end === 'string') skipped[end] = (skipped[end] ?? 0) + 1
    else {
      failed += 1
      errors.push({ run: ids[i] ?? '', message: end.failed })
    }
  }
  const next = bulk.next + ids.length
  const isOver = next >= bulk.total
  const end = isOver ? { state: failed > 0 ? ('failed' as const) : ('done' as const), endedAt: now } : {}
  return { ...bulk, next, done, failed, skipped, errors: errors.slice(-mostErrors), ...end }
}

/** Why an action would skip a run; undefined if it would change it. */
export function skipReasonOf(action: BulkAction, run: Run, now: Instant): SkipReason | undefined {
  const { state } = run
  const isFinal = state === 'done' || state === 'failed' || state === 'cancelled'
  switch (action) {
    case 'retry':
      return state === 'failed' || state === 'cancelled' ? undefined : 'not-final'
    case 'cancel':
      return isFinal ? 'final' : undefined
    case 'run':
      return isFinal ? undefined : 'not-over'
    case 'advance':
      return state === 'pending' && run.runAt > now && run.waitsFor === undefined ? undefined : 'not-waiting'
  }
}

/** An id that no other bulk has; ids sort by time. */
export function newBulkId(now: Instant): string {
  const run = randomRunId(now)
  return `${run.slice(0, 10)}${fingerprintOf(run).slice(0, 6)}`
}

/** The state entry of a bulk. */
export function bulkKey(id: string): StateKey {
  return { kind: 'bulk', name: id, item: '' }
}

/** The state entry of a part of its ids. */
export function partKey(id: string, index: number): StateKey {
  return { kind: 'bulk', name: id, item: String(Math.floor(index / idsPerPart)).padStart(4, '0') }
}

/** A bulk as JSON. */
export function toValue(bulk: Bulk): Json {
  return { ...bulk, skipped: { ...bulk.skipped }, errors: bulk.errors.map((one) => ({ ...one })) }
}
