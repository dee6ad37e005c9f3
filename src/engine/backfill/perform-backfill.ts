import { backfillRunId, type Backfill } from '../../kernel/backfill/backfill.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'
import { mostChangedAtOnce, type RunChange, type RunsOfChange } from '../../store/change-runs.js'
import type { Instant } from '../../time/instant.js'
import { backfillKindOf, type BackfillKinds } from './backfill-kind.js'
import {
  backfillKey,
  changeBackfill,
  findBackfill,
  itemsAt,
  toValue,
  type StoredBackfill,
} from './stored-backfills.js'

/** The backfill to start or cancel, and the current time. */
export interface BackfillRequest {
  readonly kinds: BackfillKinds
  readonly id: string
  readonly now: Instant
}

/** Starts a planned backfill and records its runs; continues one that was already started. */
export async function startBackfill(store: Store, request: BackfillRequest): Promise<Backfill> {
  const { id, now } = request
  for (;;) {
    const stored = await findBackfill(store, id)
    const { backfill } = stored
    if (isCancelled(backfill))
      throw new RotaError('BACKFILL_STATE', `backfill ${id} was cancelled; plan another one`)
    if (backfill.state !== 'planned') break
    const state = backfill.total === 0 ? 'started' : 'starting'
    const started: Backfill = { ...backfill, state, startedAt: now }
    if ((await changeBackfill(store, stored, { backfill: started, now })) !== 'stale') break
  }
  return await continueBackfill(store, request)
}

/** Cancels a backfill: records no more runs, then cancels waiting runs and asks running ones to stop. */
export async function cancelBackfill(store: Store, request: BackfillRequest): Promise<Backfill> {
  const { id, now } = request
  for (;;) {
    const stored = await findBackfill(store, id)
    if (isCancelled(stored.backfill)) break
    const backfill: Backfill = { ...stored.backfill, ...cancelling(stored.backfill) }
    if ((await changeBackfill(store, stored, { backfill, now })) !== 'stale') break
  }
  return await continueBackfill(store, request)
}

function isCancelled({ state }: Backfill): boolean {
  return state === 'cancelling' || state === 'cancelled'
}

function cancelling({ started }: Backfill): Pick<Backfill, 'state'> {
  return { state: started === 0 ? 'cancelled' : 'cancelling' }
}

/** Whether there are runs left to record or to cancel. */
export function isInProgress({ state }: Backfill): boolean {
  return state === 'starting' || state === 'cancelling'
}

/** Records or cancels runs of a backfill until none are left. */
async function continueBackfill(store: Store, { kinds, id, now }: BackfillRequest): Promise<Backfill> {
  for (;;) {
    const stored = await findBackfill(store, id)
    if (!isInProgress(stored.backfill)) return stored.backfill
    await performStep(store, stored, { kinds, now })
  }
}

/**
 * Records or cancels the next runs of a backfill. Several processes may do so at the same time, and each may be killed:
 * the backfill advances in the transaction that changes the runs, so exactly one process does each step.
 */
export async function performStep(
  store: Store,
  stored: StoredBackfill,
  { kinds, now }: Pick<BackfillRequest, 'kinds' | 'now'>,
): Promise<'moved' | 'stale'> {
  const { backfill, revision } = stored
  const isStarting = backfill.state === 'starting'
  const from = isStarting ? backfill.started : backfill.looked
  const most = Math.min(mostChangedAtOnce, isStarting ? mostChangedAtOnce : backfill.started - from)
  const items = await itemsAt(store, backfill, { from, most })
  const change: RunsOfChange = isStarting
    ? {
        action: 'record',
        newRuns: await backfillKindOf(kinds, backfill).runs(store, backfill, { items, first: from }),
      }
    : {
        action: 'cancel',
        runs: items.map((item) => backfillRunId(backfill, item)),
        reason: `backfill ${backfill.id} was cancelled`,
      }
  const valueAfter = (answers: readonly RunChange[]) => toValue(afterStep(backfill, items.length, answers))
  const entry = { ...backfillKey(backfill.id), revision, valueAfter }
  return (await store.changeRuns({ ...change, now, entry })) === 'stale' ? 'stale' : 'moved'
}

function afterStep(backfill: Backfill, items: number, answers: readonly RunChange[]): Backfill {
  if (backfill.state === 'starting') {
    const started = backfill.started + items
    return { ...backfill, started, state: started >= backfill.total ? 'started' : 'starting' }
  }
  const looked = backfill.looked + items
  const stopped = answers.filter((answer) => answer === 'cancelled' || answer === 'requested').length
  return {
    ...backfill,
    looked,
    cancelledRuns: backfill.cancelledRuns + stopped,
    state: looked >= backfill.started ? 'cancelled' : 'cancelling',
  }
}
