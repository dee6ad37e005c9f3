import type { Json } from '../../kernel/definition/json.js'
import {
  removalMark,
  type StateEntry,
  type StateChange,
  type StateFilter,
  type StateKey,
} from '../../kernel/state/state-entry.js'
import type { Instant } from '../../time/instant.js'
import type { Session } from './session.js'
import { each, insertInto } from './statement.js'
import type { Verb } from './verb.js'

// Each relies on: primary key. The lock of the entry closes the race of two changes of it (`lockEntries`).
const VALUE = `select value from rota.notes where kind = $1 and name = $2 and item = $3`

// The lock of the row closes the race with a claim that counts starts: it writes the entries of rates without their locks.
const REVISION = `select revision from rota.notes where kind = $1 and name = $2 and item = $3 for update`

// The revision of a new row is the number of changes that it stands for.
const overwrite = `on conflict (kind, name, item) do update
  set revision = note.revision + excluded.revision, at = excluded.at, value = excluded.value`

const WRITE = `insert into rota.notes as note (kind, name, item, revision, at, value) values ($1, $2, $3, 1, $4, $5)
  ${overwrite}`

const WRITE_ALL = insertInto(
  'rota.notes as note',
  { kind: 'text', name: 'text', item: 'text', revision: 'int8', at: 'int8', value: 'text' },
  overwrite,
)

const REMOVE = `delete from rota.notes where kind = $1 and name = $2 and item = $3`

const page = `and ($2::text is null or (notes.name, notes.item) > ($2::text, $3::text))
  order by notes.name, notes.item limit $4`

const ALL = `select * from rota.notes where kind = $1 ${page}`

// Makes SQLite look up each name instead of reading all entries of a kind.
const OF_NAMES = each({
  sqlite: `select notes.* from (select distinct value from json_each($5)) wanted cross join notes
    where kind = $1 and notes.name = wanted.value ${page}`,
  postgres: `select * from rota.notes where kind = $1 and name = any($5::text[]) ${page}`,
})

const OF_ITEMS = each({
  sqlite: `select notes.* from (select distinct value from json_each($5)) names
    cross join (select distinct value from json_each($6)) items cross join notes
    where kind = $1 and notes.name = names.value and notes.item = items.value ${page}`,
  postgres: `select * from rota.notes where kind = $1 and name = any($5::text[]) and item = any($6::text[]) ${page}`,
})

const WITH_ITEMS = `select * from rota.notes where kind = $1 and item = any($5::text[]) ${page}`

const FROM = `select * from rota.notes where (kind, name, item) > ($1, $2, $3) order by kind, name, item limit $4`

const PUT = `insert into rota.notes (kind, name, item, revision, at, value) values ($1, $2, $3, $4, $5, $6)
  on conflict (kind, name, item) do update
  set revision = excluded.revision, at = excluded.at, value = excluded.value`

/** The lock of pruning: one process at a time removes what is old. There is no such entry. */
export const pruningLock: StateKey = { kind: 'cleanup', name: 'prune', item: '' }

/** State entries by name and item. */
export function* stateEntries(session: Session, filter: StateFilter): Verb<StateEntry[]> {
  const { kind, after, limit } = filter
  const common = [kind, after?.name ?? null, after?.item ?? null, limit] as const
  return (yield* rowsOf(session, common, filter)).map(stateEntryOf)
}

/** State entries of every kind, from a key on. */
export function* stateEntriesAfter(
  session: Session,
  key: readonly [string, string, string],
  limit: number,
): Verb<StateEntry[]> {
  return (yield* session.sql.all<StateRow>(FROM, ...key, limit)).map(stateEntryOf)
}

/** Inserts a state entry with its revision. */
export function* putStateEntry(session: Session, entry: StateEntry): Verb<void> {
  const { kind, name, item, revision, at } = entry
  yield* session.sql.change(PUT, kind, name, item, revision, at, JSON.stringify(entry.value))
}

/** Changes state entries, or none if one of them has another revision. */
export function* changeState(
  session: Session,
  request: { changes: readonly StateChange[]; now: Instant },
): Verb<'changed' | 'stale'> {
  session.noteTime(request.now)
  const changes = [...request.changes, ...removalMark(request.changes)]
  yield* session.native.lockEntries(changes)
  if (!(yield* areCurrent(session, request.changes))) return 'stale'
  yield* session.sql.together(...changes.map((one) => writeStateEntry(session, one, request.now)))
  return 'changed'
}

/** Whether every change was computed from the entry's current revision. */
export function* areCurrent(session: Session, changes: readonly StateChange[]): Verb<boolean> {
  const compared = changes.filter(({ revision }) => revision !== undefined)
  const found = yield* session.sql.together(
    ...compared.map(({ kind, name, item }) => session.sql.value<number>(REVISION, kind, name, item)),
  )
  return compared.every(({ revision }, index) => revision === (found[index] ?? 0))
}

/** The value of a state entry, if there is one. */
export function* stateValue(session: Session, { kind, name, item }: StateKey): Verb<Json | undefined> {
  const text = yield* session.sql.value<string>(VALUE, kind, name, item)
  return text === undefined ? undefined : (JSON.parse(text) as Json)
}

/** The values of state entries, in the order of their keys. */
export function* stateValues(session: Session, keys: readonly StateKey[]): Verb<(Json | undefined)[]> {
  return [...(yield* session.sql.together(...keys.map((key) => stateValue(session, key))))]
}

/** Writes or removes one state entry, whatever its revision. */
export function writeStateEntry(session: Session, entry: StateChange, at: Instant): Verb<number> {
  const { kind, name, item, value } = entry
  if (value === undefined) return session.sql.change(REMOVE, kind, name, item)
  return session.sql.change(WRITE, kind, name, item, at, JSON.stringify(value))
}

/** A state entry to write, with the number of changes that led to it. */
export interface StateWrite {
  readonly change: StateChange
  readonly at: Instant
  readonly changes: number
}

/** Writes state entries of different keys together, whatever their revisions. */
export function* writeStateEntries(session: Session, entries: readonly StateWrite[]): Verb<void> {
  const rows = entries.map(({ change: { kind, name, item, value }, at, changes }) => {
    return [kind, name, item, changes, at, JSON.stringify(value)]
  })
  yield* session.sql.insert(WRITE_ALL, rows)
}

/** An entry's row: its value is a JSON text. */
type StateRow = Omit<StateEntry, 'value'> & { readonly value: string }

function stateEntryOf({ kind, name, item, value, revision, at }: StateRow): StateEntry {
  return { kind, name, item, value: JSON.parse(value) as Json, revision, at }
}

function* rowsOf(
  session: Session,
  common: readonly [string, string | null, string | null, number],
  { names, items }: Pick<StateFilter, 'names' | 'items'>,
): Verb<StateRow[]> {
  if (names === undefined && items === undefined) return yield* session.sql.all<StateRow>(ALL, ...common)
  if (names === undefined) return yield* session.sql.all<StateRow>(WITH_ITEMS, ...common, items ?? [])
  if (items === undefined) return yield* session.sql.all<StateRow>(OF_NAMES, ...common, names)
  return yield* session.sql.all<StateRow>(OF_ITEMS, ...common, names, items)
}
