import type { AppContext } from '../../features/app-context.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import type { HoldTarget } from '../../kernel/hold/hold.js'
import { holdOn, letGo, type HoldOptions } from '../control/holds.js'

/** Holds a target and emits the operation; false if it was already held. */
export async function hold(
  { change, author }: AppContext,
  target: HoldTarget,
  options: HoldOptions,
): Promise<boolean> {
  const outcome = (isNew: boolean): string => (isNew ? 'held' : 'already held')
  const audit = { action: actions[kindOf(target)].hold, subjects: [{ kind: 'hold', target } as const] }
  return await change({ operation: 'hold', target, outcome, options, audit }, (store, now) =>
    holdOn(store, { target, now, ...author, ...given(options) }),
  )
}

/** Removes options that are undefined. */
function given(options: HoldOptions): HoldOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

type TargetKind = 'trigger' | 'queue' | 'switch' | 'all'

/** The names of the two actions in the audit. */
const actions: Readonly<Record<TargetKind, { readonly hold: string; readonly release: string }>> = {
  trigger: { hold: 'trigger.pause', release: 'trigger.resume' },
  queue: { hold: 'queue.pause', release: 'queue.resume' },
  switch: { hold: 'switch.off', release: 'switch.on' },
  all: { hold: 'freeze', release: 'thaw' },
}

function kindOf(target: HoldTarget): TargetKind {
  return target.split(':')[0] as TargetKind
}

/** How something is resumed. */
export interface ReleaseOptions extends ChangeOptions {
  /** Applies the catch-up policy to instants that were due meanwhile; default: they stay skipped. */
  readonly catchUp?: boolean | undefined
}

/** Releases a target and emits the operation; false if it was not held. */
export async function release(
  { change }: AppContext,
  target: HoldTarget,
  options: ReleaseOptions = {},
): Promise<boolean> {
  const { catchUp = false, dryRun } = options
  const outcome = (isReleased: boolean): string => (isReleased ? 'released' : 'not held')
  const audit = { action: actions[kindOf(target)].release, subjects: [{ kind: 'hold', target } as const] }
  return await change({ operation: 'release', target, outcome, options, audit }, (store, now) =>
    letGo(store, { target, now, catchUp, dryRun }),
  )
}
