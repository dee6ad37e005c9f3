import { instantSkips } from '../../engine/backfill/plan-instants.js'
import { backfillView } from '../../wire/backfills.js'
import type { TriggerBackfill } from '../api/backfills.js'

/** A plan as `--json` and the API show it. */
export function planView({ run, skip, backfill: stored }: TriggerBackfill) {
  return {
    backfill: stored === undefined ? null : backfillView(stored),
    run,
    skip: skip.map((one) => ({ ...one, about: instantSkips[one.reason] })),
  }
}
