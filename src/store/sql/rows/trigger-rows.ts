import type { StoredTrigger, Trigger } from '../../../kernel/trigger/trigger.js'
import { orUndefined } from './run-rows.js'

/** The columns of a trigger joined with its version in force. */
export const TRIGGER_COLUMNS = `versions.definition, triggers.source, triggers.version, triggers.revision,
  triggers.defined_at, triggers.cursor_at, triggers.next_at, triggers.chain_run, triggers.is_active`

/** Triggers with their versions in force. */
export const FROM_TRIGGERS = `from rota.triggers
  join rota.versions on versions.trigger = triggers.name and versions.version = triggers.version`

/** A trigger's row. */
export interface TriggerRow {
  readonly definition: string
  readonly source: string
  readonly version: number
  readonly revision: number
  readonly defined_at: number
  readonly cursor_at: number
  readonly next_at: number | null
  readonly chain_run: string | null
  readonly is_active: number
}

/** Converts a row to a stored trigger. */
export function storedTriggerOf(row: TriggerRow): StoredTrigger {
  return {
    trigger: JSON.parse(row.definition) as Trigger,
    source: row.source,
    version: row.version,
    revision: row.revision,
    definedAt: row.defined_at,
    cursorAt: row.cursor_at,
    nextAt: orUndefined(row.next_at),
    chainRun: orUndefined(row.chain_run),
    active: row.is_active === 1,
  }
}
