import type { AppContext } from '../../features/app-context.js'
import type { HoldTarget } from '../../kernel/hold/hold.js'
import { holdOn, letGo, type HoldOptions } from '../control/holds.js'

/** Holds a target back and emits the operation; false if it was held already. */
export async function hold(
  { store, now, tell }: AppContext,
  target: HoldTarget,
  options: HoldOptions,
): Promise<boolean> {
  const outcome = (isNew: boolean): string => (isNew ? 'held' : 'already held')
  return await tell({ operation: 'hold', target, outcome }, async () =>
    holdOn(await store(), { target, now: now(), ...options }),
  )
}

/** Releases a target and emits the operation; false if it was not held. */
export async function release(
  { store, now, tell, wake }: AppContext,
  target: HoldTarget,
  { catchUp = false }: { readonly catchUp?: boolean | undefined } = {},
): Promise<boolean> {
  const outcome = (isReleased: boolean): string => (isReleased ? 'released' : 'not held')
  const released = await tell({ operation: 'release', target, outcome }, async () =>
    letGo(await store(), { target, now: now(), catchUp }),
  )
  wake()
  return released
}
