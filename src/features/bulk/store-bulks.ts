import { RotaError } from '../../kernel/definition/errors.js'
import { fitsBulkId } from './request.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { StateChange, StateEntry } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import { namedText } from '../../text/error-text.js'
import { DAY_MS } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'
import { bulkKey, idsPerPart, newBulkId, partKey, toValue, type Bulk } from './bulk.js'

/** How long a bulk that has ended is kept. */
const keptMs = 30 * DAY_MS

/** How many bulks are read: older ones are removed after thirty days. */
const mostBulks = 10_000

/** A bulk with the revision of its entry. */
export interface StoredBulk {
  readonly bulk: Bulk
  readonly revision: number
}

/** Records a bulk with all its ids; a bulk without runs is done immediately. */
export async function createBulk(
  store: Store,
  given: Pick<Bulk, 'action' | 'filter' | 'reason' | 'by'> & { ids: readonly RunId[]; now: Instant },
): Promise<Bulk> {
  const { ids, now, ...what } = given
  const bulk: Bulk = {
    id: newBulkId(now),
    ...what,
    state: ids.length === 0 ? 'done' : 'running',
    total: ids.length,
    next: 0,
    done: 0,
    skipped: {},
    failed: 0,
    errors: [],
    createdAt: now,
    endedAt: ids.length === 0 ? now : null,
  }
  const changes: StateChange[] = [{ ...bulkKey(bulk.id), revision: 0, value: toValue(bulk) }]
  for (let i = 0; i < ids.length; i += idsPerPart)
    changes.push({ ...partKey(bulk.id, i), revision: 0, value: ids.slice(i, i + idsPerPart) })
  // Another bulk that started in the same millisecond drew the same id.
  return (await store.changeState({ changes, now })) === 'stale' ? await createBulk(store, given) : bulk
}

/** A bulk by its id. */
export async function findBulk(store: Store, id: string): Promise<StoredBulk> {
  const [entry] = fitsBulkId(id)
    ? await store.stateEntries({ kind: 'bulk', names: [id], items: [''], limit: 1 })
    : []
  if (entry === undefined)
    throw new RotaError(
      'BULK_UNKNOWN',
      `there is no bulk action ${namedText(id)}; \`rota bulk list\` shows them`,
    )
  return storedOf(entry)
}

/** All bulks, the newest first. */
export async function listBulks(store: Store): Promise<readonly StoredBulk[]> {
  const entries = await store.stateEntries({ kind: 'bulk', items: [''], limit: mostBulks })
  return entries.map(storedOf).toReversed()
}

/** The ids of the next batch of a bulk: at most `most`. */
export async function nextIds(store: Store, { id, next }: Bulk, most: number): Promise<readonly RunId[]> {
  const { item } = partKey(id, next)
  const [part] = await store.stateEntries({ kind: 'bulk', names: [id], items: [item], limit: 1 })
  const first = next % idsPerPart
  return ((part?.value ?? []) as readonly RunId[]).slice(first, first + most)
}

/** Aborts a bulk: changes that were made stay. Returns whether it was running. */
export async function abortBulk(
  store: Store,
  { id, now }: { id: string; now: Instant },
): Promise<{ bulk: Bulk; wasRunning: boolean }> {
  for (;;) {
    const { bulk, revision } = await findBulk(store, id)
    if (bulk.state !== 'running') return { bulk, wasRunning: false }
    const aborted: Bulk = { ...bulk, state: 'aborted', endedAt: now }
    const changes = [{ ...bulkKey(id), revision, value: toValue(aborted) }]
    if ((await store.changeState({ changes, now })) === 'changed') return { bulk: aborted, wasRunning: true }
  }
}

/** Removes bulks that ended long ago; returns how many. */
export async function removeOldBulks(store: Store, now: Instant): Promise<number> {
  const old = (await listBulks(store)).filter(({ bulk }) => (bulk.endedAt ?? now) < now - keptMs)
  for (const { bulk, revision } of old) {
    const changes: StateChange[] = [{ ...bulkKey(bulk.id), revision, value: undefined }]
    for (let i = 0; i < bulk.total; i += idsPerPart)
      changes.push({ ...partKey(bulk.id, i), value: undefined })
    await store.changeState({ changes, now })
  }
  return old.length
}

function storedOf({ value, revision }: StateEntry): StoredBulk {
  return { bulk: value as unknown as Bulk, revision }
}
