import { fault, shown, within, type Place } from '../../../kernel/definition/faults.js'
import { isMap } from '../../../kernel/definition/read-value.js'

/** One part of a state: records the faults of a value that a user gives, and has the type of what a sensor stores. */
export interface StatePart<State> {
  (value: unknown, place: Place): void
  /** Whether it may be missing in a map. */
  readonly isOptional?: boolean
  /** Never set: only its type is used. */
  readonly type?: State
}

/** The type of a state that a table describes. */
export type StateOf<Part> = Part extends StatePart<infer State> ? State : never

/** A text. */
export const text = single<string>((value) => typeof value === 'string', 'is not a text', 'a text')

/** A whole number. */
export const number = single<number>(Number.isSafeInteger, 'is not a whole number', 'a whole number')

/** True or false. */
export const flag = single<boolean>(
  (value) => typeof value === 'boolean',
  'is neither true nor false',
  'true, false',
)

/** The state of a sensor that remembers nothing. */
export const nothing = single<null>((value) => value === null, 'is not null', 'null: it remembers nothing')

function single<State>(
  isOne: (value: unknown) => boolean,
  problem: string,
  allowed: string,
): StatePart<State> {
  return (value, place) => {
    if (!isOne(value)) fault(place, `${shown(value)} ${problem}`, allowed)
  }
}

/** A part that may be null. */
export function orNull<State>(part: StatePart<State>): StatePart<State | null> {
  return (value, place) => {
    if (value !== null) part(value, place)
  }
}

/** A part that may be missing in a map. */
export function optional<State>(part: StatePart<State>): StatePart<State> & { readonly isOptional: true } {
  return Object.assign(part.bind(undefined), { isOptional: true as const })
}

/** A list of parts of one kind. */
export function listOf<State>(part: StatePart<State>): StatePart<readonly State[]> {
  return (value, place) => {
    if (!Array.isArray(value)) fault(place, `${shown(value)} is not a list`, 'a list')
    else for (const [index, one] of value.entries()) part(one, within(place, index))
  }
}

type Fields = Readonly<Record<string, StatePart<unknown>>>

type OptionalName<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { readonly isOptional: true } ? Name : never
}[keyof F]

type MapOf<F extends Fields> = {
  readonly [Name in Exclude<keyof F, OptionalName<F>>]: StateOf<F[Name]>
} & { readonly [Name in OptionalName<F>]?: StateOf<F[Name]> }

/** A map with exactly these fields. */
export function mapOf<const F extends Fields>(fields: F): StatePart<MapOf<F>> {
  const parts = Object.entries(fields)
  const allowed = `a map of ${Object.keys(fields).join(', ')}`
  return (value, place) => {
    if (!isMap(value)) return fault(place, `${shown(value)} is not a map`, allowed)
    const foreign = Object.keys(value).filter((key) => !Object.hasOwn(fields, key))
    if (foreign.length > 0) fault(place, `it cannot have ${foreign.slice(0, mostNames).join(', ')}`, allowed)
    const missing = parts.filter(([name, part]) => value[name] === undefined && part.isOptional !== true)
    if (missing.length > 0) fault(place, `it is missing ${missing.map(([name]) => name).join(', ')}`)
    for (const [name, part] of parts) if (value[name] !== undefined) part(value[name], within(place, name))
  }
}

const mostNames = 5
