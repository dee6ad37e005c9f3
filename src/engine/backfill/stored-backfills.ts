import type { Backfill } from '../../kernel/backfill/backfill.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Json } from '../../kernel/definition/json.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import { fingerprintOf, randomRunId } from '../../kernel/identity/identity.js'
import type { StateChange, StateKey } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** A backfill with the revision of its entry. */
export interface StoredBackfill {
  readonly backfill: Backfill
  readonly revision: number
}

/** The fields of a new backfill. */
export type NewBackfill = Omit<
  Backfill,
  'id' | 'total' | 'createdAt' | 'startedAt' | 'started' | 'looked' | 'cancelledRuns' | 'state'
>

/** How many items one state entry has. */
const itemsPerPart = 1000

/** Stores a backfill that is not started, with all its items. */
export async function storeBackfill(
  store: Store,
  { items, now, ...given }: NewBackfill & { readonly items: readonly string[]; readonly now: Instant },
): Promise<Backfill> {
  const backfill: Backfill = {
    ...given,
    id: `bf-${fingerprintOf(randomRunId(now)).slice(0, 8)}`,
    total: items.length,
    createdAt: now,
    startedAt: null,
    state: 'planned',
    started: 0,
    looked: 0,
    cancelledRuns: 0,
  }
  const changes: StateChange[] = [{ ...backfillKey(backfill.id), revision: 0, value: toValue(backfill) }]
  for (let i = 0; i < items.length; i += itemsPerPart)
    changes.push({ ...partKey(backfill.id, i), revision: 0, value: items.slice(i, i + itemsPerPart) })
  const answer = await store.changeState({ changes, now })
  // Another backfill has the same random id.
  return answer === 'stale' ? await storeBackfill(store, { ...given, items, now }) : backfill
}

/** How many ids are compared for a suggestion. */
const mostGuessed = 1000

/** A backfill by its id. */
export async function findBackfill(store: Store, id: string): Promise<StoredBackfill> {
  const [entry] = await store.stateEntries({ kind: 'backfill', names: [id], items: [''], limit: 1 })
  if (entry !== undefined) return { backfill: entry.value as unknown as Backfill, revision: entry.revision }
  const known = await store.stateEntries({ kind: 'backfill', items: [''], limit: mostGuessed })
  const names = { known: known.map(({ name }) => name), list: 'rota backfill' }
  throw new RotaError('BACKFILL_UNKNOWN', noneNamed('backfill has the id', id, names))
}

/** Which backfills to return. */
export interface BackfillFilter {
  readonly trigger?: string | undefined
  readonly asset?: string | undefined
}

const mostListed = 100_000

/** All backfills, newest first, or those of one trigger or asset. */
export async function listBackfills(
  store: Store,
  filter: BackfillFilter = {},
): Promise<readonly StoredBackfill[]> {
  const entries = await store.stateEntries({ kind: 'backfill', items: [''], limit: mostListed })
  return entries
    .map(({ value, revision }) => ({ backfill: value as unknown as Backfill, revision }))
    .filter(
      ({ backfill: { trigger, asset } }) =>
        (filter.trigger ?? trigger) === trigger && (filter.asset ?? asset) === asset,
    )
    .toSorted((one, other) => other.backfill.createdAt - one.backfill.createdAt)
}

/** The items of a backfill from an index on: at most `most`, and only those of one state entry. */
export async function itemsAt(
  store: Store,
  { id }: Pick<Backfill, 'id'>,
  { from, most }: { readonly from: number; readonly most: number },
): Promise<readonly string[]> {
  const { kind, name, item } = partKey(id, from)
  const [part] = await store.stateEntries({ kind, names: [name], items: [item], limit: 1 })
  const first = from % itemsPerPart
  return ((part?.value ?? []) as readonly string[]).slice(first, first + most)
}

/** Changes a backfill, unless another process changed it first. */
export async function changeBackfill(
  store: Store,
  { revision }: StoredBackfill,
  { backfill, now }: { readonly backfill: Backfill; readonly now: Instant },
): Promise<StoredBackfill | 'stale'> {
  const changes = [{ ...backfillKey(backfill.id), revision, value: toValue(backfill) }]
  const answer = await store.changeState({ changes, now })
  return answer === 'stale' ? 'stale' : { backfill, revision: revision + 1 }
}

/** Removes a backfill with its items; its runs stay. */
export async function removeBackfill(
  store: Store,
  { backfill, revision }: StoredBackfill,
  now: Instant,
): Promise<void> {
  const changes: StateChange[] = [{ ...backfillKey(backfill.id), revision, value: undefined }]
  for (let i = 0; i < backfill.total; i += itemsPerPart)
    changes.push({ ...partKey(backfill.id, i), value: undefined })
  await store.changeState({ changes, now })
}

/** The key of the state entry of a backfill. */
export function backfillKey(id: string): StateKey {
  return { kind: 'backfill', name: id, item: '' }
}

/** A backfill as JSON. */
export function toValue(backfill: Backfill): Json {
  return backfill as unknown as Json
}

function partKey(id: string, index: number): StateKey {
  const from = index - (index % itemsPerPart)
  return { kind: 'backfill', name: id, item: String(from).padStart(6, '0') }
}
