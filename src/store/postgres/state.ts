import type { Json } from '../../kernel/definition/json.js'
import type { StateEntry, StateChange, StateFilter, StateKey } from '../../kernel/state/state-entry.js'
import type { Instant } from '../../time/instant.js'
import { stateEntryOf, type StateRow } from '../sql/state-rows.js'
import type { Session } from './session.js'

// Each relies on: primary key. Being alone closes the race of two changes of one note.
const VALUE = `select value from rota.notes where kind = $1 and name = $2 and item = $3`

const REVISION = `select revision from rota.notes where kind = $1 and name = $2 and item = $3`

const WRITE = `insert into rota.notes as note (kind, name, item, revision, at, value) values ($1, $2, $3, 1, $4, $5)
  on conflict (kind, name, item) do update
  set revision = note.revision + 1, at = excluded.at, value = excluded.value`

const REMOVE = `delete from rota.notes where kind = $1 and name = $2 and item = $3`

const page = `and ($2::text is null or (notes.name, notes.item) > ($2::text, $3::text))
  order by notes.name, notes.item limit $4`

const ALL = `select * from rota.notes where kind = $1 ${page}`

const OF_NAMES = `select * from rota.notes where kind = $1 and name = any($5::text[]) ${page}`

const OF_ITEMS = `select * from rota.notes where kind = $1 and name = any($5::text[]) and item = any($6::text[]) ${page}`

const WITH_ITEMS = `select * from rota.notes where kind = $1 and item = any($5::text[]) ${page}`

const FROM = `select * from rota.notes where (kind, name, item) > ($1, $2, $3) order by kind, name, item limit $4`

const PUT = `insert into rota.notes (kind, name, item, revision, at, value) values ($1, $2, $3, $4, $5, $6)
  on conflict (kind, name, item) do update
  set revision = excluded.revision, at = excluded.at, value = excluded.value`

/** Notes by name and item. */
export async function notes(session: Session, filter: StateFilter): Promise<StateEntry[]> {
  const { kind, names, items, after, limit } = filter
  const common = [kind, after?.name ?? null, after?.item ?? null, limit] as const
  return (await rowsOf(session, common, { names, items })).map(stateEntryOf)
}

/** Notes of every kind, from a key on. */
export async function notesAfter(
  session: Session,
  key: readonly [string, string, string],
  limit: number,
): Promise<StateEntry[]> {
  return (await session.db.all<StateRow>(FROM, ...key, limit)).map(stateEntryOf)
}

/** Puts a note in as it was written down. */
export async function putStateEntry(
  session: Session,
  { kind, name, item, revision, at, value }: StateEntry,
): Promise<void> {
  await session.db.change(PUT, kind, name, item, revision, at, JSON.stringify(value))
}

/** Changes notes, or none where one has moved on. */
export async function changeState(
  session: Session,
  request: { changes: readonly StateChange[]; now: Instant },
): Promise<'changed' | 'stale'> {
  session.beExclusive()
  session.remembered.noteTime(request.now)
  if (!(await areCurrent(session, request.changes))) return 'stale'
  for (const change of request.changes) await writeStateEntry(session, change, request.now)
  return 'changed'
}

/** Whether every change was computed from what stands. */
export async function areCurrent(session: Session, changes: readonly StateChange[]): Promise<boolean> {
  for (const { kind, name, item, revision } of changes) {
    if (revision === undefined) continue
    if (revision !== ((await session.db.value(REVISION, kind, name, item)) ?? 0)) return false
  }
  return true
}

/** The value of a note, where it is there. */
export async function stateValue(
  session: Session,
  { kind, name, item }: StateKey,
): Promise<Json | undefined> {
  const text = await session.db.value(VALUE, kind, name, item)
  return text === undefined ? undefined : (JSON.parse(text as string) as Json)
}

/** Writes or removes one note, whatever stands there. */
export async function writeStateEntry(session: Session, change: StateChange, at: Instant): Promise<void> {
  const { kind, name, item, value } = change
  if (value === undefined) await session.db.change(REMOVE, kind, name, item)
  else await session.db.change(WRITE, kind, name, item, at, JSON.stringify(value))
}

async function rowsOf(
  session: Session,
  common: readonly [string, string | null, string | null, number],
  { names, items }: Pick<StateFilter, 'names' | 'items'>,
): Promise<StateRow[]> {
  const { db } = session
  if (names === undefined && items === undefined) return await db.all(ALL, ...common)
  if (names === undefined) return await db.all(WITH_ITEMS, ...common, items ?? [])
  if (items === undefined) return await db.all(OF_NAMES, ...common, names)
  return await db.all(OF_ITEMS, ...common, names, items)
}
