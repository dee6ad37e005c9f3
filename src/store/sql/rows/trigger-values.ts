import { chainMsOf, isPolled, type Trigger } from '../../../kernel/trigger/trigger.js'
import type { DefineTrigger } from '../../port.js'

/** The columns of a trigger that are needed to change it. */
export interface KnownTrigger {
  readonly source: string
  readonly version: number
  readonly revision: number
  readonly is_active: number
}

/** A change of a trigger that gives it a definition. */
export type Definition = DefineTrigger & { readonly trigger: Trigger }

/** Whether a change gives its trigger a definition, rather than its end. */
export function hasDefinition(item: DefineTrigger): item is Definition {
  return item.trigger !== undefined
}

/** The values of a definition for its trigger's row, in the order source to is_ticking. */
export function triggerValues(
  item: Definition,
  { version, revision }: { version: number; revision: number },
) {
  const { source, trigger, fingerprint, cursorAt, nextAt = null } = item
  const marks = [chainMs(trigger), tickingCode(trigger)] as const
  return [source, trigger.job, fingerprint, version, revision, cursorAt, nextAt, ...marks] as const
}

/** The interval of a chain for its row. */
export function chainMs({ schedule }: Trigger): number | null {
  return chainMsOf(schedule) ?? null
}

/** Who ticks it: 0 nobody, 1 any scheduler, 2 a scheduler that has its sensor. */
export function tickingCode({ enabled, schedule }: Trigger): number {
  if (!enabled) return 0
  return isPolled(schedule) ? 2 : 1
}
