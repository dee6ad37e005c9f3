import type { Instant } from '../../time/instant.js'
import type { Tables, TriggerRow } from './tables.js'

/** Sets when a trigger has to be looked at next. */
export function moveLook(tables: Tables, row: TriggerRow, nextAt: Instant | undefined): void {
  tables.looks.delete(row)
  // Whatever changes a trigger ends here, so that this is the one place that has to say so.
  tables.touched?.triggers.add(row)
  row.nextAt = nextAt
  if (row.active && row.trigger.enabled && nextAt !== undefined) tables.looks.add(row)
}
