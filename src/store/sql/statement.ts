/**
 * The dialect that statements are written in: the part of Postgres that SQLite has too. A driver
 * translates each statement once, when it prepares it.
 *
 * - `rota.` before a table stands for the schema; SQLite has none.
 * - `$1::int8` is the first value. Postgres needs the type if it cannot infer it, SQLite ignores it.
 * - `= any($1::text[])` takes a list; SQLite gets it as a JSON text. `= any(array(select …))` is SQLite's `in`.
 * - `for update` and `skip locked` lock rows in Postgres; in SQLite a transaction has the lock of the whole file.
 * - `greatest` and `least` are SQLite's `max` and `min`. They treat null differently, so give them none.
 * - `strpos(text, part)` is SQLite's `instr`; `lower` converts only A to Z, in Postgres with `collate "C"`.
 * - `json_agg(json_build_array(a, b))::text` is a JSON text, also with `json_build_object`; without rows it is null in Postgres and `[]` in SQLite.
 * - `insertInto` makes the statement that inserts rows.
 * - If the two need different texts, `each` has both.
 */

/** A parameter of a statement. */
export type SqlValue = string | number | boolean | null | readonly SqlScalar[]

/** One value of a row or of a list. */
export type SqlScalar = string | number | null

/** A statement as verbs pass it to a driver. */
export type Statement = string | DialectStatement

/** A statement with a different text for each database. */
export interface DialectStatement {
  readonly sqlite: string
  readonly postgres: string
  /** The same for `rowsAtOnce` rows in SQLite. */
  readonly sqliteRows?: string
}

/** How many rows SQLite inserts with one statement if there are that many: it takes a third less time for each. */
export const rowsAtOnce = 32

/** A statement for which the two databases need different texts; both are in the dialect. */
export function each(texts: DialectStatement): DialectStatement {
  return texts
}

type ColumnType = 'text' | 'int8' | 'int4' | 'int2'

/** A statement that inserts rows; `end` follows the values. Postgres gets all rows together. */
export function insertInto(
  table: string,
  columns: Readonly<Record<string, ColumnType>>,
  end = '',
): DialectStatement {
  const names = Object.keys(columns)
  const lists = Object.values(columns).map((type, i) => `$${i + 1}::${type}[]`)
  const values = names.map((_, i) => `$${i + 1}`)
  const start = `insert into ${table} (${names.join(', ')})`
  return {
    sqlite: `${start} values (${values.join(', ')}) ${end}`,
    sqliteRows: `${start} values ${repeated(`(${repeated('?', names.length)})`, rowsAtOnce)} ${end}`,
    postgres: `${start} select * from unnest(${lists.join(', ')}) ${end}`,
  }
}

/** The same, but a row whose first column, the key, exists stays unchanged. */
export function insertNewInto(
  table: string,
  columns: Readonly<Record<string, ColumnType>>,
): DialectStatement {
  const key = Object.keys(columns)[0] as string
  const { sqlite, postgres } = insertInto(table, columns, `on conflict (${key}) do nothing`)
  return { sqlite, postgres: `${postgres} returning ${key} as key` }
}

function repeated(text: string, times: number): string {
  return Array.from({ length: times }, () => text).join(', ')
}

/** Converts rows to the lists that an insert takes in Postgres, one for each column. */
export function columnsOf(rows: readonly (readonly SqlScalar[])[]): readonly (readonly SqlScalar[])[] {
  return rows[0]?.map((_, column) => rows.map((row) => row[column] as SqlScalar)) ?? []
}

/** Translates a statement for SQLite. */
export function toSqlite(sql: Statement): string {
  const text = typeof sql === 'string' ? sql : sql.sqlite
  return (
    text
      .replaceAll(/\brota\./g, '')
      .replaceAll(/= any\(\$(\d+)::\w+\[\]\)/g, 'in (select value from json_each(?$1))')
      // With a bare value as the limit SQLite would prepare the statement again at every call; with the sum it does
      // not.
      .replaceAll(/\blimit \$(\d+)/g, 'limit ?$1 + 0')
      .replaceAll(/= any\(array\(([^]*?)\)\)/g, 'in ($1)')
      .replaceAll(/\s+for update( skip locked)?/g, '')
      .replaceAll(/\$(\d+)/g, '?$1')
      .replaceAll(/::\w+(\[\])?/g, '')
      .replaceAll(/\bgreatest\(/g, 'max(')
      .replaceAll(/\bleast\(/g, 'min(')
      .replaceAll(/\bstrpos\(/g, 'instr(')
      .replaceAll(' collate "C"', '')
      .replaceAll(/\bjson_agg\(/g, 'json_group_array(')
      .replaceAll(/\bjson_build_(array|object)\(/g, 'json_$1(')
  )
}

/** Replaces zero bytes by a visible character: Postgres cannot store one, and the SQLite driver ends a text there. */
export function withoutZeroBytes(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\u2400') : text
}
