import { errorPart, quotedText } from '../../text/error-text.js'
import type { Fault } from './errors.js'

/** One step into a definition: the name of an option, or the index of an item. */
export type Key = string | number

/** A fault with its path as keys, from which a parser finds its line. */
export interface PlacedFault extends Fault {
  readonly keys: readonly Key[]
}

/** A place in a definition, and the list that collects faults. */
export interface Place {
  readonly keys: readonly Key[]
  readonly faults: PlacedFault[]
}

/** The place of a whole definition, with an empty list. */
export function placeOf(...keys: readonly Key[]): Place {
  return { keys, faults: [] }
}

/** A nested place; it shares the list of faults. */
export function within(place: Place, key: Key): Place {
  return new NestedPlace(place, key)
}

/** Builds its path only for a fault: a trigger has thirty places, and there may be a hundred thousand triggers. */
class NestedPlace implements Place {
  readonly faults: PlacedFault[]
  readonly #parent: Place
  readonly #key: Key

  constructor(parent: Place, key: Key) {
    this.faults = parent.faults
    this.#parent = parent
    this.#key = key
  }

  get keys(): readonly Key[] {
    return [...this.#parent.keys, this.#key]
  }
}

/** Records a fault at a place; returns undefined, so that a reader can return it. */
export function fault(place: Place, message: string, allowed?: string): undefined {
  place.faults.push({ path: formatPath(place.keys), keys: place.keys, message, allowed })
  return undefined
}

/** A short printable text for an invalid value. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return quotedText(value)
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Date) return 'a Date'
  if (
    value === null ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    typeof value === 'bigint'
  ) {
    return errorPart(String(value))
  }
  return typeof value === 'object' ? objectText(value) : `a ${typeof value}`
}

/** Only a plain object is called a map: a `Map`, for example, is not accepted where a map was expected. */
function objectText(value: object): string {
  const prototype = Object.getPrototypeOf(value) as {
    readonly constructor?: { readonly name?: unknown }
  } | null
  const name = prototype?.constructor?.name
  return typeof name !== 'string' || name === 'Object' || name === '' ? 'a map' : `a ${errorPart(name)}`
}

function formatPath(keys: readonly Key[]): string {
  let path = ''
  for (const key of keys) {
    if (typeof key === 'number') path += `[${key}]`
    else path += path === '' ? errorPart(key) : `.${errorPart(key)}`
  }
  return path === '' ? '(whole)' : path
}
