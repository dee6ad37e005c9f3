import type { Json } from '../../kernel/definition/json.js'
import {
  removalMark,
  removalWeight,
  type StateEntry,
  type StateChange,
  type StateFilter,
  type StateKey,
} from '../../kernel/state/state-entry.js'
import type { SeenKey } from '../../kernel/tick/tick.js'
import type { Instant } from '../../time/instant.js'
import type { StateTallyRequest } from '../overview.js'
import { copyJson } from './json-copy.js'
import { byStateKey, compareText, getOrAdd, noteTime, type Mutable, type Tables } from './tables.js'

/** State entries of one kind, by name and item. */
export function stateEntries(tables: Tables, filter: StateFilter): StateEntry[] {
  const { kind, after, limit } = filter
  if (filter.names !== undefined && filter.items !== undefined)
    return named(tables, filter, filter.names, filter.items)
  const names = filter.names === undefined ? undefined : new Set(filter.names)
  const items = filter.items === undefined ? undefined : new Set(filter.items)
  const from = { kind, name: after?.name ?? '', item: after?.item ?? '' }
  const found: StateEntry[] = []
  const isBefore = (entry: StateEntry): boolean =>
    after === undefined ? compareText(entry.kind, kind) < 0 : byStateKey(entry, from) <= 0
  for (const entry of tables.state.from(isBefore)) {
    if (found.length >= limit || entry.kind !== kind) break
    if (names?.has(entry.name) === false || items?.has(entry.item) === false) continue
    found.push({ ...entry })
  }
  return found
}

/** How many entries of a name have each text in a field of their value. */
export function stateTally(tables: Tables, { kind, name, field }: StateTallyRequest): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { value } of stateEntries(tables, { kind, names: [name], limit: Infinity })) {
    const found =
      typeof value === 'object' && value !== null ? (value as Record<string, Json>)[field] : undefined
    const text = typeof found === 'string' ? found : ''
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return counts
}

/** Changes state entries, or none if one of them has another revision. */
export function changeState(
  tables: Tables,
  request: { changes: readonly StateChange[]; now: Instant },
): 'changed' | 'stale' {
  noteTime(tables, request.now)
  if (!areCurrent(tables, request.changes)) return 'stale'
  const changes = [...request.changes, ...removalMark(request.changes)]
  for (const change of changes) writeStateEntry(tables, change, request.now)
  return 'changed'
}

/** Whether every change was computed from the current revision. */
export function areCurrent(tables: Tables, changes: readonly StateChange[]): boolean {
  return changes.every(
    (change) =>
      change.revision === undefined || change.revision === (stateEntryAt(tables, change)?.revision ?? 0),
  )
}

/** The state entry with a key. */
export function stateEntryAt(tables: Tables, key: StateKey): StateEntry | undefined {
  return tables.stateByKey.get(stateKeyText(key))
}

/** Writes or removes one state entry, whatever its revision. */
export function writeStateEntry(tables: Tables, change: StateChange, at: Instant): void {
  const { kind, name, item, value } = change
  const key = stateKeyText(change)
  const known = tables.stateByKey.get(key)
  if (value === undefined) {
    if (known !== undefined) dropStateEntry(tables, known)
    return
  }
  const revision = (known?.revision ?? 0) + 1
  putStateEntry(tables, { kind, name, item, value: copyJson(value) as Json, revision, at })
}

/** Inserts a state entry unchanged, replacing the one with the same key. */
export function putStateEntry(tables: Tables, entry: StateEntry): void {
  const key = stateKeyText(entry)
  const known = tables.stateByKey.get(key)
  if (known !== undefined) dropFromNewest(tables, known)
  if (known !== undefined) tables.state.delete(known)
  const row: Mutable<StateEntry> = { ...entry }
  tables.state.add(row)
  tables.stateByKey.set(key, row)
  addToNewest(tables, entry)
  tables.touched?.state.set(key, row)
}

/** Removes a state entry. */
export function dropStateEntry(tables: Tables, entry: Mutable<StateEntry>): void {
  const key = stateKeyText(entry)
  dropFromNewest(tables, entry)
  tables.state.delete(entry)
  tables.stateByKey.delete(key)
  tables.touched?.state.set(key, undefined)
}

function addToNewest({ newestState }: Tables, entry: StateEntry): void {
  if (entry.at > newestState.at) Object.assign(newestState, { at: entry.at, revisions: 0 })
  if (entry.at === newestState.at) newestState.revisions += weightOf(entry)
}

function dropFromNewest({ newestState }: Tables, entry: StateEntry): void {
  if (entry.at === newestState.at) newestState.revisions -= weightOf(entry)
}

function weightOf({ kind, revision }: StateEntry): number {
  return kind === 'removal' ? removalWeight * revision : revision
}

/** The key of a state entry as one text. */
export function stateKeyText({ kind, name, item }: StateKey): string {
  return JSON.stringify([kind, name, item])
}

/** The given digests that a trigger remembers. */
export function seen(
  tables: Tables,
  request: { trigger: string; digests: readonly string[]; now: Instant },
): Set<string> {
  const known = tables.seen.get(request.trigger)
  const isRemembered = (digest: string): boolean =>
    known?.has(digest) === true && (known.get(digest) ?? Infinity) > request.now
  return new Set(request.digests.filter(isRemembered))
}

/** Adds a digest for a trigger. */
export function remember(tables: Tables, trigger: string, { digest, untilAt }: SeenKey): void {
  dropDigest(tables, trigger, digest)
  getOrAdd(tables.seen, trigger, () => new Map()).set(digest, untilAt)
  if (untilAt !== undefined) tables.seenUntil.add({ trigger, digest, untilAt })
  tables.touched?.seen.set(JSON.stringify([trigger, digest]), { trigger, digest, untilAt })
}

/** Removes digests of a trigger, up to a limit. */
export function forgetSeen(tables: Tables, request: { trigger: string; limit: number }): number {
  const { trigger, limit } = request
  const digests = [...(tables.seen.get(trigger)?.keys() ?? [])].toSorted(compareText).slice(0, limit)
  for (const digest of digests) forget(tables, trigger, digest)
  return digests.length
}

/** Removes expired digests, up to a limit. */
export function forgetExpired(tables: Tables, request: { now: Instant; limit: number }): void {
  for (let i = 0; i < request.limit; i++) {
    const first = tables.seenUntil.first
    if (first === undefined || first.untilAt > request.now) return
    forget(tables, first.trigger, first.digest)
  }
}

/** Removes one digest. */
export function forget(tables: Tables, trigger: string, digest: string): void {
  dropDigest(tables, trigger, digest)
  tables.touched?.seen.set(JSON.stringify([trigger, digest]), { trigger, digest, forgotten: true })
}

function dropDigest(tables: Tables, trigger: string, digest: string): void {
  const known = tables.seen.get(trigger)
  const untilAt = known?.get(digest)
  if (untilAt !== undefined) tables.seenUntil.delete({ trigger, digest, untilAt })
  known?.delete(digest)
  if (known?.size === 0) tables.seen.delete(trigger)
}

function named(
  tables: Tables,
  { kind, after, limit }: StateFilter,
  names: readonly string[],
  items: readonly string[],
): StateEntry[] {
  const keys = [...new Set(names)].flatMap((name) =>
    [...new Set(items)].map((item) => ({ kind, name, item })),
  )
  const found = keys.flatMap((key) => stateEntryAt(tables, key) ?? []).toSorted(byStateKey)
  const from = after === undefined ? undefined : { kind, ...after }
  return found
    .filter((entry) => from === undefined || byStateKey(entry, from) > 0)
    .slice(0, limit)
    .map((entry) => ({ ...entry }))
}
