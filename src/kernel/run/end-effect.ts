/**
 * What the end of a run changes besides the run itself. A run is recorded with the name of its effect; the store
 * applies the effect in the transaction that makes the run final. Stores know only the chain effect themselves: they
 * are opened with a table of the others, one row for each feature that has one.
 */
import type { Instant } from '../../time/instant.js'
import type { Json } from '../definition/json.js'
import type { RunId } from '../identity/identity.js'
import type { StateChange, StateKey } from '../state/state-entry.js'
import { jobKey } from '../sla/deadline.js'
import { afterSuccess, freshnessKey, type Freshness } from '../sla/freshness.js'
import type { FinalState, StoredError } from './run.js'

/** One row of the table of effects. */
export interface EndEffect {
  /** The name that a run carries. */
  readonly name: string
  /** The number of the effect in stored rows; it never changes. */
  readonly code: number
  /** The state entries whose values `changes` needs. */
  readonly reads?: (run: EndedRun) => readonly StateKey[]
  /** The changes; `values` are those of `reads`, in that order. */
  readonly changes?: (run: EndedRun, values: readonly (Json | undefined)[]) => readonly StateChange[]
  /** Whether the scheduler evaluates the trigger of the run immediately. */
  readonly wakesTrigger?: boolean
  /** The state entry that is written for every trigger that follows the job of the run, and wakes it. */
  readonly arrival?: (run: EndedRun) => Omit<StateChange, 'name'> | undefined
  /** Whether the end of the run is a success of its trigger; default: if the run is done. `values` as in `changes`. */
  readonly keepsTrigger?: (run: EndedRun, values: readonly (Json | undefined)[]) => boolean
  /** Whether it also continues a chain. */
  readonly isChain?: true
}

/** The fields of a final run that an effect needs. */
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
 * The end of a run of an after-finish trigger sets the next due instant of that trigger. Stores do this themselves,
 * with the run and the interval that they store with the trigger; only the first end of a run does it.
 */
export const chainEffect: EndEffect = { name: 'chain', code: 1, isChain: true }

/** The suffixes of effect names: for whose freshness a success counts. The code is added to that of the effect. */
const keeping: readonly { readonly kept: Kept; readonly code: number }[] = [
  { kept: 'job', code: 100 },
  { kept: 'trigger', code: 200 },
  { kept: 'both', code: 300 },
]

/** The name of the effect of a run that has no other effect. */
const noEffect = 'run'

/** The name of an effect for a run whose success counts for freshness. */
export function keepingName(
  name: string | undefined,
  { isJob, isTrigger }: { readonly isJob: boolean; readonly isTrigger: boolean },
): string | undefined {
  if (!isJob && !isTrigger) return name
  return `${name ?? noEffect}+${isJob && isTrigger ? 'both' : isJob ? 'job' : 'trigger'}`
}

/** The codes of the effects that continue a chain; the code minus one is the same effect without the chain. */
export const chainCodes = [chainEffect.code, ...keeping.map(({ code }) => code + chainEffect.code)]

/** The name of the effect without the chain. */
export function withoutChain(name: string): string | undefined {
  const [, kept] = name.split('+')
  return kept === undefined ? undefined : `${noEffect}+${kept}`
}

/** The table of effects, with the chain, and with a variant of each for runs that count for freshness. */
export function endEffectsOf(effects: readonly EndEffect[]): EndEffects {
  const own = [chainEffect, ...effects]
  const all = [undefined, ...own].flatMap((base) => [
    ...(base === undefined ? [] : [base]),
    ...keeping.map(({ kept, code }) =>
      keepingEffect(base, {
        name: `${base?.name ?? noEffect}+${kept}`,
        code: code + (base?.code ?? 0),
        kept,
      }),
    ),
  ])
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

/** For whose freshness the success of a run counts. */
type Kept = 'job' | 'trigger' | 'both'

/** The variant of an effect for a run that counts for freshness; without an effect, only that. */
function keepingEffect(
  base: EndEffect | undefined,
  { name, code, kept }: { readonly name: string; readonly code: number; readonly kept: Kept },
): EndEffect {
  const own = (run: EndedRun): readonly StateKey[] => base?.reads?.(run) ?? []
  const isKept = (run: EndedRun, key: StateKey, values: readonly (Json | undefined)[]): boolean =>
    key.name === run.trigger && base?.keepsTrigger !== undefined
      ? base.keepsTrigger(run, values)
      : run.state === 'done'
  return {
    ...base,
    name,
    code,
    reads: (run) => [...own(run), ...keysOf(run, kept)],
    changes: (run, values) => {
      const count = own(run).length
      const others = values.slice(0, count)
      const keys = keysOf(run, kept).flatMap((key, i) => {
        const known = values[count + i] as unknown as Freshness | undefined
        return known !== undefined && isKept(run, key, others) ? [{ key, known }] : []
      })
      return [
        ...(base?.changes?.(run, others) ?? []),
        ...keys.map(({ key, known }) => ({
          ...key,
          value: afterSuccess(known, run.at) as unknown as Json,
        })),
      ]
    },
  }
}

function keysOf({ job, trigger }: EndedRun, kept: Kept): StateKey[] {
  return [
    ...(kept === 'trigger' ? [] : [freshnessKey(jobKey(job))]),
    ...(kept === 'job' || trigger === undefined ? [] : [freshnessKey(trigger)]),
  ]
}
