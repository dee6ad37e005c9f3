import type { DryRun } from '../definition/dry-run.js'
import type { StateChange } from '../state/state-entry.js'
import type { Via } from './audit.js'

/** The options of every change: who makes it, why, and whether it is a dry run. */
export interface ChangeOptions extends DryRun {
  /** Who, as the audit shows it; default: the app itself. */
  readonly by?: string | undefined
  /** Why, as the audit shows it. */
  readonly reason?: string | undefined
  /** Through what; default: code. */
  readonly via?: Via | undefined
  /** The tag that the trigger must still have, from `ETag` of the HTTP API. */
  readonly tag?: string | undefined
  /** State entries that are written in the transaction of the change; they may name what it changes. */
  readonly alongside?: ((changes: readonly NamedChange[]) => readonly StateChange[]) | undefined
}

/** The action and its target, as the audit shows them: `run.enqueue` of `job:greet`. */
export interface NamedChange {
  readonly action: string
  readonly target: string
  /** What it creates or changes, such as `run:…`; of many, the first ones. */
  readonly subjects: readonly string[]
}

/** The default actor of changes. */
export interface Author extends Pick<ChangeOptions, 'reason'> {
  readonly by: string
  readonly via: Via
}

/** Separates the options of a change from the other options of a call. */
export function splitChange<Given extends ChangeOptions>(
  given: Given,
): { readonly change: ChangeOptions; readonly rest: Omit<Given, keyof ChangeOptions> } {
  const { dryRun, by, reason, via, tag, alongside, ...rest } = given
  return { change: { dryRun, by, reason, via, tag, alongside }, rest }
}
