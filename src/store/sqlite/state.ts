import type { Json } from '../../kernel/definition/json.js'
import type { StateEntry, StateChange, StateFilter, StateKey } from '../../kernel/state/state-entry.js'
import type { Instant } from '../../time/instant.js'
import { stateEntryOf, type StateRow } from '../sql/state-rows.js'
import type { Session } from './session.js'

// Each relies on: primary key.
const VALUE = `select value from notes where kind = ? and name = ? and item = ?`

const REVISION = `select revision from notes where kind = ? and name = ? and item = ?`

const WRITE = `insert into notes (kind, name, item, revision, at, value) values (?, ?, ?, 1, ?, ?)
  on conflict (kind, name, item) do update
  set revision = revision + 1, at = excluded.at, value = excluded.value`

const REMOVE = `delete from notes where kind = ? and name = ? and item = ?`

const page = `and (?2 is null or (notes.name, notes.item) > (?2, ?3)) order by notes.name, notes.item limit ?4 + 0`

const ALL = `select * from notes where kind = ?1 ${page}`

const OF_NAMES = `select notes.* from (select distinct value from json_each(?5)) wanted
  cross join notes on kind = ?1 and notes.name = wanted.value where true ${page}`

const OF_ITEMS = `select notes.* from (select distinct value from json_each(?5)) names
  cross join (select distinct value from json_each(?6)) items
  cross join notes on kind = ?1 and notes.name = names.value and notes.item = items.value where true ${page}`

const WITH_ITEMS = `select * from notes where kind = ?1 and item in (select value from json_each(?5)) ${page}`

const FROM = `select * from notes where (kind, name, item) > (?, ?, ?) order by kind, name, item limit ?`

const PUT = `insert or replace into notes (kind, name, item, revision, at, value) values (?, ?, ?, ?, ?, ?)`

/** Notes by name and item. */
export function notes(session: Session, filter: StateFilter): StateEntry[] {
  const { kind, names, items, after, limit } = filter
  const common = [kind, after?.name ?? null, after?.item ?? null, limit] as const
  return rowsOf(session, common, { names, items }).map(stateEntryOf)
}

/** Notes of every kind, from a key on. */
export function notesAfter(session: Session, key: readonly string[], limit: number): StateEntry[] {
  return session.db.all<StateRow>(FROM, ...key, limit).map(stateEntryOf)
}

/** Puts a note in as it was written down. */
export function putStateEntry(session: Session, { kind, name, item, revision, at, value }: StateEntry): void {
  session.db.change(PUT, kind, name, item, revision, at, JSON.stringify(value))
}

/** Changes notes, or none where one has moved on. */
export function changeState(
  session: Session,
  request: { changes: readonly StateChange[]; now: Instant },
): 'changed' | 'stale' {
  session.noteTime(request.now)
  if (!areCurrent(session, request.changes)) return 'stale'
  for (const change of request.changes) writeStateEntry(session, change, request.now)
  return 'changed'
}

/** Whether every change was computed from what stands. */
export function areCurrent(session: Session, changes: readonly StateChange[]): boolean {
  return changes.every(({ kind, name, item, revision }) => {
    return revision === undefined || revision === (session.db.value(REVISION, kind, name, item) ?? 0)
  })
}

/** The value of a note, where it is there. */
export function stateValue(session: Session, { kind, name, item }: StateKey): Json | undefined {
  const text = session.db.value(VALUE, kind, name, item)
  return text === undefined ? undefined : (JSON.parse(text as string) as Json)
}

/** Writes or removes one note, whatever stands there. */
export function writeStateEntry(session: Session, change: StateChange, at: Instant): void {
  const { kind, name, item, value } = change
  if (value === undefined) session.db.change(REMOVE, kind, name, item)
  else session.db.change(WRITE, kind, name, item, at, JSON.stringify(value))
}

function rowsOf(
  session: Session,
  common: readonly [string, string | null, string | null, number],
  { names, items }: Pick<StateFilter, 'names' | 'items'>,
): StateRow[] {
  const { db } = session
  if (names === undefined && items === undefined) return db.all<StateRow>(ALL, ...common)
  if (names === undefined) return db.all<StateRow>(WITH_ITEMS, ...common, JSON.stringify(items))
  if (items === undefined) return db.all<StateRow>(OF_NAMES, ...common, JSON.stringify(names))
  return db.all<StateRow>(OF_ITEMS, ...common, JSON.stringify(names), JSON.stringify(items))
}
