/**
 * What the end of a run changes besides the run itself. A run carries the name of its effect from the moment it is
 * recorded; the store applies the effect in the transaction that makes the run final. Stores know no effect but the
 * chain: they are opened with a table of the others, one row for each feature that has one.
 */
import type { Instant } from '../../time/instant.js'
import type { Json } from '../definition/json.js'
import type { RunId } from '../identity/identity.js'
import type { StateChange, StateKey } from '../state/state-entry.js'
import type { FinalState, StoredError } from './run.js'

/** One row of the table of effects. */
export interface EndEffect {
  /** The name that a run carries. */
  readonly name: string
  /** The number that stands for the name in a stored row; it never changes. */
  readonly code: number
  /** The state entries whose values `changes` needs. */
  readonly reads?: (run: EndedRun) => readonly StateKey[]
  /** What changes; `values` are those of `reads`, in that order. */
  readonly changes?: (run: EndedRun, values: readonly (Json | undefined)[]) => readonly StateChange[]
  /** Whether the scheduler looks at the trigger of the run at once. */
  readonly wakesTrigger?: boolean
  /** The state entry that every trigger that follows the job of the run gets, and by which it is woken. */
  readonly arrival?: (run: EndedRun) => Omit<StateChange, 'name'> | undefined
}

/** A run that has become final, as far as its effect needs to know it. */
export interface EndedRun {
  readonly id: RunId
  readonly job: string
  readonly trigger: string | undefined
  readonly partition: string | undefined
  readonly dueAt: Instant
  readonly state: FinalState
  /** When the attempt that ended it began. */
  readonly startedAt: Instant | undefined
  readonly at: Instant
  readonly error: StoredError | undefined
  readonly reason: string | undefined
}

/** The effects that a store applies, by name. */
export type EndEffects = ReadonlyMap<string, EndEffect>

/**
 * The end of a run of an after-finish trigger gives that trigger its next due instant. Stores do this themselves, with
 * the run and the interval that they keep beside the trigger; only the first end of a run does it.
 */
export const chainEffect: EndEffect = { name: 'chain', code: 1 }

/** The table of effects; the chain is always in it. */
export function endEffectsOf(effects: readonly EndEffect[]): EndEffects {
  const all = [chainEffect, ...effects]
  const table = new Map(all.map((effect) => [effect.name, effect]))
  const codes = new Set(all.map(({ code }) => code))
  if (table.size < all.length || codes.size < all.length)
    throw new Error('Two end effects have the same name or code')
  return table
}

/** The table of a store that only continues chains. */
export const chainsOnly = endEffectsOf([])

/** The effect with a name; a run that names an unknown effect must not be stored, because its end would be lost. */
export function endEffectNamed(effects: EndEffects, name: string): EndEffect {
  const effect = effects.get(name)
  if (effect === undefined) throw new Error(`The store was opened without the end effect ${name}`)
  return effect
}
