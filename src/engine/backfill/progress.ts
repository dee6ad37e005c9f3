import type { Backfill } from '../../kernel/backfill/backfill.js'
import type { Store } from '../../store/port.js'
import { backfillKindOf, type BackfillKinds } from './backfill-kind.js'

/** A backfill and its progress. */
export interface BackfillStatus extends Backfill {
  readonly done: number
  /** How many have failed or were cancelled. */
  readonly failed: number
  readonly left: number
}

/** Adds the progress to a backfill. */
export async function withProgress(
  store: Store,
  backfill: Backfill,
  kinds: BackfillKinds,
): Promise<BackfillStatus> {
  const { done, failed } = await backfillKindOf(kinds, backfill).progress(store, backfill)
  return { ...backfill, done, failed, left: backfill.total - done - failed }
}
