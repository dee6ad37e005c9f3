import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Store, WorkerStatus } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { TriggerKinds } from '../trigger-kind.js'

/** One thing that was looked at: what it is, how it stands, and what to do about it. */
export interface Finding {
  readonly check: string
  readonly level: 'ok' | 'warn' | 'error'
  readonly message: string
  readonly todo: string | undefined
}

/** What every check is given. */
export interface Facts {
  readonly store: Store
  readonly now: Instant
  readonly deep: boolean
  readonly workers: readonly WorkerStatus[]
  readonly triggers: readonly StoredTrigger[]
  readonly kinds: TriggerKinds
}

/** Looks at one subject and says how it stands. */
export type Check = (facts: Facts) => Promise<readonly Finding[]>

/** Something that is as it should be. */
export function ok(check: string, message: string): Finding {
  return { check, level: 'ok', message, todo: undefined }
}

/** Something that a person should look at. */
export function warn(check: string, message: string, todo: string): Finding {
  return { check, level: 'warn', message, todo }
}

/** Some names of many, and that there are more. */
export function someNames(names: Iterable<string>, most = 5): string {
  const all = [...new Set(names)]
  const shown = all.slice(0, most).join(', ')
  return all.length > most ? `${shown} and ${all.length - most} more` : shown
}

/** A number with its noun. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Items by what they have in common, in the order in which they come. */
export function groupBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const known = groups.get(keyOf(item))
    if (known === undefined) groups.set(keyOf(item), [item])
    else known.push(item)
  }
  return groups
}
