import { MAX_DURATION_MS } from '../../time/duration.js'
import { fault, shown, within, type Place } from './faults.js'
import { readChoice, readDuration, readFlag, readOptions, readWhole } from './read-value.js'

/** Reads the value of one option, which may be missing. A fault makes the result meaningless: the caller refuses it. */
export type OptionReader<Value> = (value: unknown, place: Place) => Value

/** The readers of all options of a definition, by name. */
export type OptionTable = Readonly<Record<string, OptionReader<unknown>>>

/** The values that the readers of a table return. */
export type TableValues<Table extends OptionTable> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]>
}

/** Reads every option of a table, so that all faults are found together; other options are faults. */
export function readTable<Table extends OptionTable>(
  value: unknown,
  table: Table,
  place: Place,
): TableValues<Table> {
  const input = readOptions(value, Object.keys(table), place) ?? {}
  const read = Object.entries(table).map(([name, reader]) => [name, reader(input[name], within(place, name))])
  return Object.fromEntries(read) as TableValues<Table>
}

/** A reader whose undefined is always a fault. */
export function required<Value>(read: OptionReader<Value | undefined>): OptionReader<Value> {
  return read as OptionReader<Value>
}

/** True or false. */
export function flag(fallback: boolean): OptionReader<boolean> {
  return (value, place) => readFlag(value, place) ?? fallback
}

/** One of the given words; the first one is the default. */
export function choice<Word extends string>(...words: readonly [Word, ...Word[]]): OptionReader<Word> {
  return (value, place) => readChoice(value, words, place) ?? words[0]
}

/** A whole number between two bounds. */
export function whole(
  bounds: { readonly min: number; readonly max: number },
  fallback: number,
): OptionReader<number> {
  return (value, place) => readWhole(value, bounds, place) ?? fallback
}

/** The bounds of a duration that may be of any length. */
export const anyDuration = { min: 0, max: MAX_DURATION_MS, allowed: 'from 0s to 36525d' }

/** A duration in milliseconds between two bounds. */
export function duration<Fallback extends number | undefined>(
  bounds: typeof anyDuration,
  fallback: Fallback,
): OptionReader<number | Fallback> {
  return (value, place) => readDuration(value, bounds, place) ?? fallback
}

/** A function; only code can provide one. */
export function functionOf<Given>(subject: string): OptionReader<Given | undefined> {
  return (value, place) => {
    if (value === undefined || typeof value === 'function') return value as Given | undefined
    return fault(place, `${shown(value)} is not a function`, `a function of ${subject}`)
  }
}
