import { parseDuration } from '../../time/duration.js'
import { TimeError } from '../../time/time-error.js'
import { namedText } from '../../text/error-text.js'
import { fault, shown, within, type Place } from './faults.js'

/** The options of a definition before their values are checked. */
export type Written = Readonly<Record<string, unknown>>

/** Reads a map; unknown keys are faults with a suggestion. */
export function readOptions(value: unknown, known: readonly string[], place: Place): Written | undefined {
  if (!isMap(value)) return fault(place, `a map of options was expected, not ${shown(value)}`)
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    fault(within(place, key), `unknown option${didYouMean(key, known)}`, known.join(', '))
  }
  return value
}

/** One entry of a map from names to definitions. */
export interface Entry {
  readonly name: unknown
  readonly input: unknown
}

/** Reads every entry of a map from names to definitions; entries with faults are left out. */
export function readEach<Read>(
  value: unknown,
  readOne: (entry: Entry, place: Place) => Read | undefined,
  place: Place,
): readonly Read[] {
  if (value === undefined) return []
  if (!isMap(value)) {
    fault(place, `a map from names to definitions was expected, not ${shown(value)}`)
    return []
  }
  return Object.entries(value).flatMap(([name, input]) => {
    const read = readOne({ name, input }, within(place, name))
    return read === undefined ? [] : [read]
  })
}

/** Whether a value is a plain object, not an instance of a class. */
export function isMap(value: unknown): value is Written {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || isForeignPlain(prototype)
}

/** A plain object of another realm, such as a test runner's or a worker's. */
function isForeignPlain(prototype: unknown): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf')
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}$/

/** Whether a value can be the name of a job, trigger or queue. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && namePattern.test(value)
}

/** The name of a job, trigger or queue. */
export function readName(value: unknown, place: Place): string | undefined {
  if (isName(value)) return value
  return fault(
    place,
    `${shown(value)} is not a name`,
    '1 to 128 of the characters A-Z a-z 0-9 . _ : @ / -, beginning with a letter or digit',
  )
}

/** A whole number between two bounds, both included. */
export function readWhole(
  value: unknown,
  bounds: { readonly min: number; readonly max: number },
  place: Place,
): number | undefined {
  if (value === undefined) return undefined
  const fits =
    Number.isSafeInteger(value) && (value as number) >= bounds.min && (value as number) <= bounds.max
  if (fits) return value as number
  return fault(place, `${shown(value)} is not allowed`, `a whole number from ${bounds.min} to ${bounds.max}`)
}

/** Higher goes first. */
export function readPriority(value: unknown, place: Place): number | undefined {
  return readWhole(value, { min: -1_000_000, max: 1_000_000 }, place)
}

/** The number of runs that may run concurrently. */
export function readConcurrency(value: unknown, place: Place): number | undefined {
  return readWhole(value, { min: 1, max: 100_000 }, place)
}

/** One of the given words. */
export function readChoice<T extends string>(
  value: unknown,
  choices: readonly T[],
  place: Place,
): T | undefined {
  if (value === undefined) return undefined
  const choice = choices.find((word) => word === value)
  if (choice !== undefined) return choice
  const hint = typeof value === 'string' ? didYouMean(value, choices) : ''
  return fault(place, `${shown(value)} is not allowed${hint}`, choices.join(', '))
}

/** True or false; words such as `yes` are not accepted. */
export function readFlag(value: unknown, place: Place): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value
  return fault(place, `${shown(value)} is neither true nor false`, 'true, false')
}

/** A duration between two bounds, both included; `allowed` names them in messages. */
export function readDuration(
  value: unknown,
  bounds: { readonly min: number; readonly max: number; readonly allowed: string },
  place: Place,
): number | undefined {
  if (value === undefined) return undefined
  const ms = timed(place, () => parseDuration(value as string | number))
  if (ms === undefined || (ms >= bounds.min && ms <= bounds.max)) return ms
  return fault(place, `${shown(value)} is too ${ms < bounds.min ? 'short' : 'long'}`, bounds.allowed)
}

/** Calls a parser of `time/`; its error becomes a fault at this place. */
export function timed<T>(place: Place, read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof TimeError)) throw error
    return fault(place, error.message, error.allowed)
  }
}

/** Option names of other schedulers, with Rota's name for each. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ['tz', 'timezone'],
  ['zone', 'timezone'],
  ['interval', 'every'],
  ['schedule', 'cron'],
  ['retries', 'retry'],
  ['data', 'payload'],
  ['args', 'payload'],
  ['misfire', 'catchUp'],
  ['catchup', 'catchUp'],
  ['paused', 'enabled'],
  ['disabled', 'enabled'],
  ['argv', 'command'],
  ['run', 'command'],
  ['db', 'store'],
  ['database', 'store'],
  ['keep', 'retention'],
])

/** The known word that is nearest to a mistyped one. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  // An untyped caller may pass anything.
  if (typeof word !== 'string' || word.length > longestWord) return undefined
  const flat = flatten(word)
  const other = otherWords.get(flat)
  if (other !== undefined && known.includes(other)) return other
  // A single letter is equally near to every other.
  const limit = flat.length <= 3 ? Math.min(1, flat.length - 1) : 2
  let best: { word: string; distance: number } | undefined
  for (const candidate of known.slice(0, mostCandidates)) {
    // Only words of a similar length are compared letter by letter: there may be very many names.
    if (candidate.length > longestWord || Math.abs(candidate.length - word.length) > limit + separators)
      continue
    const distance = editDistance(flat, flatten(candidate))
    if (distance <= limit && distance < (best?.distance ?? Infinity)) best = { word: candidate, distance }
  }
  return best?.word
}

/** The longest name. */
const longestWord = 128

/** A suggestion must not take long. */
const mostCandidates = 10_000

/** How many dashes and underscores may differ. */
const separators = 6

/** The message about an unknown name: a suggestion, or the command that lists the names. */
export function noneNamed(
  what: string,
  name: string,
  { known, list }: { readonly known: readonly string[]; readonly list: string },
): string {
  // An untyped caller may pass anything.
  const isText = typeof name === 'string'
  const meant = isText ? nearest(name, known) : undefined
  const hint = meant === undefined ? `\`${list}\` lists them` : `did you mean ${meant}?`
  return `no ${what} ${isText ? namedText(name) : shown(name)}; ${hint}`
}

/** The suggestion for an unknown name, such as `; did you mean nightly?`, or an empty text. */
export function didYouMean(word: string, known: readonly string[]): string {
  const meant = nearest(word, known)
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

/** Ignores case, dashes and underscores. */
function flatten(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, '')
}

/** How many letters were added, omitted or replaced; two swapped letters count as one. */
function editDistance(from: string, to: string): number {
  let before: readonly number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const swapped = isSwapped ? (before[j - 2] as number) + 1 : Infinity
      next.push(Math.min(replaced, swapped, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    before = row
    row = next
  }
  return row[to.length] as number
}
