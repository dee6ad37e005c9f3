import type { Trigger, TriggerVersion } from '../../../kernel/trigger/trigger.js'
import { orUndefined } from './run-rows.js'

/** A version's row. */
export interface VersionRow {
  readonly version: number
  readonly valid_from: number
  readonly valid_until: number | null
  readonly tzdata: string
  readonly definition: string
}

/** A version of a trigger as the port has it. */
export function versionOf(trigger: string, row: VersionRow): TriggerVersion {
  return {
    name: trigger,
    version: row.version,
    trigger: triggerOf(row.definition),
    validFrom: row.valid_from,
    validUntil: orUndefined(row.valid_until),
    tzdata: row.tzdata,
  }
}

/** A definition read back; what was absent when it was written is absent again. */
export function triggerOf(definition: string): Trigger {
  return JSON.parse(definition) as Trigger
}
