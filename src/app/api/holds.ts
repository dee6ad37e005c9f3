import type { AppContext } from '../../features/app-context.js'
import type { DryRun } from '../../kernel/definition/dry-run.js'
import type { HoldTarget } from '../../kernel/hold/hold.js'
import { holdOn, letGo, type HoldOptions } from '../control/holds.js'

/** Holds a target back and emits the operation; false if it was held already. */
export async function hold(
  { store, now, tell }: AppContext,
  target: HoldTarget,
  options: HoldOptions,
): Promise<boolean> {
  const outcome = (isNew: boolean): string => (isNew ? 'held' : 'already held')
  return await tell({ operation: 'hold', target, outcome, dryRun: options.dryRun }, async () =>
    holdOn(await store(), { target, now: now(), ...options }),
  )
}

/** How something is resumed. */
export interface ReleaseOptions extends DryRun {
  /** Runs what was due meanwhile, as the catch-up policy says; default: it stays skipped. */
  readonly catchUp?: boolean | undefined
}

/** Releases a target and emits the operation; false if it was not held. */
export async function release(
  { store, now, tell, wake }: AppContext,
  target: HoldTarget,
  { catchUp = false, dryRun }: ReleaseOptions = {},
): Promise<boolean> {
  const outcome = (isReleased: boolean): string => (isReleased ? 'released' : 'not held')
  const released = await tell({ operation: 'release', target, outcome, dryRun }, async () =>
    letGo(await store(), { target, now: now(), catchUp, dryRun }),
  )
  wake()
  return released
}
