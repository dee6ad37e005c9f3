import type { Instant } from './instant.js'

/**
 * A value as users of the library see it: its instants are Dates. Inside, an instant is a number of Unix milliseconds
 * under a key that is `at` or ends in `At` or `Until`, or in one of the lists of instants.
 */
export type Dated<T> = unknown extends T
  ? T
  : T extends Kept
    ? T
    : {
        [Key in keyof T]: Key extends ForeignKey
          ? T[Key]
          : Key extends 'at' | `${string}At` | `${string}Until` | ListKey
            ? InDates<T[Key]>
            : Dated<T[Key]>
      }

/** Values without instants, and values whose fields are not converted. */
type Kept =
  | Date
  | Error
  | ((...given: never[]) => unknown)
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | AbortSignal

type InDates<Value> = Value extends number
  ? Date
  : Value extends readonly number[]
    ? readonly Date[]
    : Dated<Value>

type ForeignKey = (typeof foreignKeys)[number]
type ListKey = (typeof listKeys)[number]

/** The keys of values that users provide: a number in them stays a number, whatever its key. */
const foreignKeys = [
  'payload',
  'result',
  'params',
  'labels',
  'metadata',
  'body',
  'details',
  'state',
  'before',
  'after',
] as const

/** The keys of lists of instants. */
const listKeys = ['unexplained', 'unexpected'] as const

const foreign: ReadonlySet<string> = new Set(foreignKeys)
const lists: ReadonlySet<string> = new Set(listKeys)

/** The value with Dates for its instants; a value without instants is returned unchanged. */
export function dated<T>(value: T): Dated<T> {
  return withDates(value) as Dated<T>
}

function withDates(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDates)
  if (!isPlain(value)) return value
  let copy: Record<string, unknown> | undefined
  for (const key in value) {
    const one = value[key]
    const changed = withInstants(key, one, toDates)
    if (changed === one) continue
    copy ??= { ...value }
    copy[key] = changed
  }
  return copy ?? value
}

const toDates = { instant: (at: Instant): Date => new Date(at), other: withDates }

/** Converts one field of a record: an instant, a list of instants, or any other value. */
export function withInstants(
  key: string,
  value: unknown,
  become: { readonly instant: (at: Instant) => unknown; readonly other: (value: unknown) => unknown },
): unknown {
  if (typeof value === 'number') return isInstantKey(key) ? become.instant(value) : value
  if (typeof value !== 'object' || value === null || foreign.has(key)) return value
  return lists.has(key) && Array.isArray(value) ? value.map(become.instant) : become.other(value)
}

/** Whether a number under this key is an instant. */
export function isInstantKey(key: string): boolean {
  return key.endsWith('At') || key.endsWith('Until') || key === 'at'
}

/** Instances of a class are not converted. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
