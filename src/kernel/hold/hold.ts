import type { Instant } from '../../time/instant.js'

/** What is held back: one trigger, one queue, everything, or one of the stored kill switches. */
export type HoldTarget = `trigger:${string}` | `queue:${string}` | 'all' | `switch:${SwitchName}`

/** The three kill switches. */
export type SwitchName = 'pipeline' | 'scheduler' | 'worker'

/** An interval in which something was held back on purpose: who, why, from when until when. Kept for ever. */
export interface Hold {
  readonly id: number
  readonly target: HoldTarget
  readonly fromAt: Instant
  /** When it ended or will end by itself; absent while it is open. */
  readonly untilAt: Instant | undefined
  readonly actor: string
  readonly note: string
  /** Whether the range was given back to catch-up when it was released. */
  readonly catchUp: boolean
}

/** Whether the hold is in force at an instant. */
export function holdsAt(hold: Hold, at: Instant): boolean {
  return hold.fromAt <= at && (hold.untilAt === undefined || at < hold.untilAt)
}

/** The targets whose holds keep a scheduler from ticking anything. */
export const planningTargets: readonly HoldTarget[] = ['all', 'switch:pipeline', 'switch:scheduler']

/** The targets whose holds keep a worker from claiming anything. */
export const claimingTargets: readonly HoldTarget[] = ['all', 'switch:pipeline', 'switch:worker']
