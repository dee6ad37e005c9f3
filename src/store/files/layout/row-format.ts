import { formatInstant, parseInstant, type Instant } from '../../../time/instant.js'

/** Converts one value of a row to JSON and back. */
export interface Codec<Value, Stored> {
  write(value: Value): Stored
  read(stored: Stored): Value
}

/** The field of a row behind a key of a file: written as it is, or by a codec. */
type Field<Row> = keyof Row | { [Key in keyof Row]: readonly [Key, Codec<Row[Key], unknown>] }[keyof Row]

/** The field of a row behind each key of a file. */
export type FieldTable<Row> = Readonly<Record<string, Field<Row>>>

type Covered<Entry> = Entry extends readonly [infer Key, unknown] ? Key : Entry

type Stored<Row, Entry> = Entry extends readonly [unknown, Codec<unknown, infer Written>]
  ? Written
  : Row[Entry & keyof Row]

/** Writes the fields of a row under the keys of a file, in the order of its table, and reads them again. */
export interface RowFormat<Row, Table extends FieldTable<Row>> {
  write(row: Row): { readonly [Key in keyof Table]: Stored<Row, Table[Key]> }
  read(file: ReturnType<this['write']>): Pick<Row, Covered<Table[keyof Table]> & keyof Row>
}

/** The file that a format writes. */
export type FileOf<Format extends { write(row: never): unknown }> = ReturnType<Format['write']>

/** Makes the format of a row from a table that names the field behind each key of the file. */
export function rowFormat<Row>(): <const Table extends FieldTable<Row>>(
  table: Table,
) => RowFormat<Row, Table> {
  return (table) => {
    const entries = Object.entries<string | [string, Codec<unknown, unknown>]>(table as never)
    const fields = entries.map(([key, field]) => {
      const [name, codec] = typeof field === 'string' ? [field, asIs] : field
      return { key, name, codec }
    })
    const write = (row: object): object => {
      const file: Record<string, unknown> = {}
      for (const { key, name, codec } of fields) file[key] = codec.write(row[name as keyof typeof row])
      return file
    }
    const read = (file: object): object => {
      const row: Record<string, unknown> = {}
      for (const { key, name, codec } of fields) row[name] = codec.read(file[key as keyof typeof file])
      return row
    }
    return { write, read } as never
  }
}

const asIs: Codec<unknown, unknown> = { write: (value) => value, read: (stored) => stored }

/** An instant as text. */
export const instant: Codec<Instant, string> = { write: formatInstant, read: parseInstant }

/** An instant whose key may be absent. */
export const optionalInstant: Codec<Instant | undefined, string | undefined> = {
  write: textOf,
  read: instantOf,
}

/** An instant whose key is always written. */
export const nullableInstant: Codec<Instant | undefined, string | null> = {
  write: (at) => textOf(at) ?? null,
  read: instantOf,
}

/** A value that older layouts did not write. */
export function withDefault<Value>(value: Value): Codec<Value, Value | undefined> {
  return { write: (given) => given, read: (stored) => stored ?? value }
}

/** Formats an optional instant. */
export function textOf(at: Instant | undefined): string | undefined {
  return at === undefined ? undefined : formatInstant(at)
}

/** Parses an optional instant. */
export function instantOf(text: unknown): Instant | undefined {
  return typeof text === 'string' ? parseInstant(text) : undefined
}
