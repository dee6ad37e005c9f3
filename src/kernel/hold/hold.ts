import type { Instant } from '../../time/instant.js'

/** The target of a hold: one trigger, one queue, everything, or one of the stored kill switches. */
export type HoldTarget = `trigger:${string}` | `queue:${string}` | 'all' | `switch:${SwitchName}`

/** The three kill switches. */
export type SwitchName = 'pipeline' | 'scheduler' | 'worker'

/** An interval in which something was paused on purpose: by whom, why, from when until when. Kept forever. */
export interface Hold {
  readonly id: number
  readonly target: HoldTarget
  readonly fromAt: Instant
  /** When it ended or will end; undefined while it has no end. */
  readonly untilAt: Instant | undefined
  readonly actor: string
  readonly note: string
  /** Whether the release made the held range due for catch-up. */
  readonly catchUp: boolean
}

/** Whether the hold is in force at an instant. */
export function holdsAt(hold: Hold, at: Instant): boolean {
  return hold.fromAt <= at && (hold.untilAt === undefined || at < hold.untilAt)
}

/** The targets whose holds stop all planning. */
export const planningTargets: readonly HoldTarget[] = ['all', 'switch:pipeline', 'switch:scheduler']

/** The targets whose holds stop all claiming. */
export const claimingTargets: readonly HoldTarget[] = ['all', 'switch:pipeline', 'switch:worker']
