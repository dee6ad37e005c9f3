import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Store, WorkerStatus } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { TriggerKinds } from '../trigger-kind.js'

/** The result of one check: its name, its level, a message, and what to do. */
export interface Finding {
  readonly check: string
  readonly level: 'ok' | 'warn' | 'error'
  readonly message: string
  readonly todo: string | undefined
}

/** The input of every check. */
export interface Facts {
  readonly store: Store
  readonly now: Instant
  readonly deep: boolean
  readonly workers: readonly WorkerStatus[]
  readonly triggers: readonly StoredTrigger[]
  readonly kinds: TriggerKinds
}

/** Checks one subject and returns its findings. */
export type Check = (facts: Facts) => Promise<readonly Finding[]>

/** A finding without a problem. */
export function ok(check: string, message: string): Finding {
  return { check, level: 'ok', message, todo: undefined }
}

/** A finding that a person should look at. */
export function warn(check: string, message: string, todo: string): Finding {
  return { check, level: 'warn', message, todo }
}

/** The first names of a list, and how many more there are. */
export function someNames(names: Iterable<string>, most = 5): string {
  const all = [...new Set(names)]
  const shown = all.slice(0, most).join(', ')
  return all.length > most ? `${shown} and ${all.length - most} more` : shown
}

/** A number with its noun. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
