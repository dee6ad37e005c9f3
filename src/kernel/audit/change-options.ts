import type { DryRun } from '../definition/dry-run.js'
import type { StateChange } from '../state/state-entry.js'
import type { Via } from './audit.js'

/** The options of every change: who makes it, why, and whether it is only tried. */
export interface ChangeOptions extends DryRun {
  /** Who, as the audit shows it; default: the app itself. */
  readonly by?: string | undefined
  /** Why, as the audit shows it. */
  readonly reason?: string | undefined
  /** Through what; default: code. */
  readonly via?: Via | undefined
  /** The tag that the trigger must still have, from `ETag` of the HTTP API. */
  readonly tag?: string | undefined
  /** State entries that are written in the transaction of the change. */
  readonly alongside?: readonly StateChange[] | undefined
}

/** Who makes changes where nothing else is said. */
export interface Author extends Pick<ChangeOptions, 'reason'> {
  readonly by: string
  readonly via: Via
}

/** Separates the options of a change from the others that were given with them. */
export function splitChange<Given extends ChangeOptions>(
  given: Given,
): { readonly change: ChangeOptions; readonly rest: Omit<Given, keyof ChangeOptions> } {
  const { dryRun, by, reason, via, tag, alongside, ...rest } = given
  return { change: { dryRun, by, reason, via, tag, alongside }, rest }
}
