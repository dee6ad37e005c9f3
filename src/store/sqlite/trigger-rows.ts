import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import { orUndefined } from '../sql/rows/run-rows.js'
import { triggerOf } from '../sql/rows/version-rows.js'

/** The columns of a trigger joined with its version in force, in the order of `TriggerRow`. */
export const TRIGGER_COLUMNS = `versions.definition, triggers.source, triggers.version, triggers.revision,
  triggers.defined_at, triggers.cursor_at, triggers.next_at, triggers.chain_run, triggers.is_active`

/** A trigger's row as it comes in a JSON text. */
export type TriggerRow = [
  definition: string,
  source: string,
  version: number,
  revision: number,
  definedAt: number,
  cursorAt: number,
  nextAt: number | null,
  chainRun: string | null,
  isActive: number,
]

/** A trigger as it stands. */
export function storedTriggerOf(row: TriggerRow): StoredTrigger {
  const [definition, source, version, revision, definedAt, cursorAt, nextAt, chainRun, isActive] = row
  return {
    trigger: triggerOf(definition),
    source,
    version,
    revision,
    definedAt,
    cursorAt,
    nextAt: orUndefined(nextAt),
    chainRun: orUndefined(chainRun),
    active: isActive === 1,
  }
}
