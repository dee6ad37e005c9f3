import type { Fault } from '../../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../../kernel/definition/faults.js'
import { isMap } from '../../../kernel/definition/read-value.js'
import type { HttpSensorState } from './http/sensor.js'
import type { SqlChangeState } from './sql/change.js'
import type { SqlRowsState } from './sql/rows.js'
import type { Checkpoint, RowPlace, Sweeps } from './sql/row-sweep.js'
import type { StoredValue } from './sql/value.js'
import type { SweepState } from './sweep.js'

/** The faults of a state of a built-in sensor type; none for other types, whose states are opaque. */
export function stateFaults(type: string, state: unknown): readonly Fault[] {
  const read = readers.get(type)
  if (read === undefined) return []
  const place = placeOf('state')
  read(state, place)
  return place.faults
}

/** Records the faults of a value at the place. */
type Reader = (value: unknown, place: Place) => void

const text: Reader = (value, place) => {
  if (typeof value !== 'string') fault(place, `${shown(value)} is not a text`, 'a text')
}

const number: Reader = (value, place) => {
  if (!Number.isSafeInteger(value)) fault(place, `${shown(value)} is not a whole number`, 'a whole number')
}

const flag: Reader = (value, place) => {
  if (typeof value !== 'boolean') fault(place, `${shown(value)} is neither true nor false`, 'true, false')
}

const nothing: Reader = (value, place) => {
  if (value !== null) fault(place, `${shown(value)} is not null`, 'null: it remembers nothing')
}

function orNull(read: Reader): Reader {
  return (value, place) => {
    if (value !== null) read(value, place)
  }
}

function listOf(read: Reader): Reader {
  return (value, place) => {
    if (!Array.isArray(value)) fault(place, `${shown(value)} is not a list`, 'a list')
    else for (const [index, one] of value.entries()) read(one, within(place, index))
  }
}

/** A map with exactly these fields; optional ones may be missing. */
function mapOf<State>(
  fields: Readonly<Record<keyof State & string, Reader>>,
  optional: readonly (keyof State)[] = [],
): Reader {
  const names = Object.keys(fields) as (keyof State & string)[]
  const allowed = `a map of ${names.join(', ')}`
  return (value, place) => {
    if (!isMap(value)) return fault(place, `${shown(value)} is not a map`, allowed)
    const foreign = Object.keys(value).filter((key) => !Object.hasOwn(fields, key))
    if (foreign.length > 0) fault(place, `it cannot have ${foreign.slice(0, mostNames).join(', ')}`, allowed)
    const missing = names.filter((name) => value[name] === undefined && !optional.includes(name))
    if (missing.length > 0) fault(place, `it lacks ${missing.join(', ')}`)
    for (const name of names) {
      if (value[name] !== undefined) fields[name](value[name], within(place, name))
    }
  }
}

const mostNames = 5

const sweepState = mapOf<SweepState>({
  source: text,
  sweeps: number,
  floorAt: orNull(number),
  present: listOf(text),
  freshAt: orNull(number),
  from: text,
  known: text,
  knownCount: number,
  recheck: listOf(number),
  failing: listOf(text),
  complaint: orNull(text),
  open: orNull(
    mapOf<NonNullable<SweepState['open']>>({
      startedAt: number,
      nextFreshAt: number,
      position: text,
      from: text,
      isHeld: flag,
      looked: number,
      young: number,
      old: text,
      next: text,
      nextCount: number,
      rechecking: listOf(number),
      failing: listOf(text),
      complaint: orNull(text),
    }),
  ),
})

const storedValue = mapOf<StoredValue>({ type: text, text, sha256: text }, ['text', 'sha256'])
const rowPlace = mapOf<RowPlace>({ value: storedValue, id: storedValue })

const changeState = mapOf<SqlChangeState>({ value: storedValue }, ['value'])

const rowsState = mapOf<Required<SqlRowsState>>(
  {
    sweeps: orNull(
      mapOf<Sweeps>({
        beganAt: number,
        after: orNull(rowPlace),
        isSettled: flag,
        lastAt: orNull(number),
        sweep: orNull(mapOf<NonNullable<Sweeps['sweep']>>({ at: number, place: rowPlace })),
        end: orNull(rowPlace),
        checkpoints: listOf(mapOf<Checkpoint>({ at: number, value: orNull(storedValue) })),
      }),
    ),
    recent: listOf(text),
    failing: listOf(rowPlace),
    complaint: orNull(text),
  },
  ['failing', 'complaint'],
)

const httpState = mapOf<HttpSensorState>(
  { key: text, hasLooked: flag, etag: text, lastModified: text, judgedBy: text },
  ['key', 'hasLooked', 'etag', 'lastModified', 'judgedBy'],
)

const readers: ReadonlyMap<string, Reader> = new Map([
  ['s3', sweepState],
  ['files', sweepState],
  ['http', httpState],
  ['webhook', nothing],
  ['sql-rows', rowsState],
  // In code, the two SQL sensors have the same type.
  ['sql', (state, place) => (isMap(state) && 'recent' in state ? rowsState : changeState)(state, place)],
])
