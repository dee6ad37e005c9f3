import type { Backfill } from '../../kernel/backfill/backfill.js'
import type { NewRun } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'

/** What a backfill can repeat: due instants of triggers, or something that a feature adds. */
export interface BackfillKind {
  /** The field of a backfill that names its subject. */
  readonly of: 'trigger' | 'asset'
  /** The runs of some of its items; the first of them has this index in its order. */
  runs(
    store: Store,
    backfill: Backfill,
    batch: { readonly items: readonly string[]; readonly first: number },
  ): Promise<readonly NewRun[]>
  /** How many of its items are done, and how many have failed. */
  progress(store: Store, backfill: Backfill): Promise<{ readonly done: number; readonly failed: number }>
}

/** The kinds of backfills that a process knows. */
export type BackfillKinds = readonly BackfillKind[]

/** The kind of a backfill. */
export function backfillKindOf(kinds: BackfillKinds, backfill: Backfill): BackfillKind {
  const kind = kinds.find(({ of }) => backfill[of] !== null)
  if (kind === undefined)
    throw new Error(`backfill ${backfill.id} is of a kind that this process does not know`)
  return kind
}
