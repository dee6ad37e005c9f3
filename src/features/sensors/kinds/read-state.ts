import type { Fault } from '../../../kernel/definition/errors.js'
import { placeOf } from '../../../kernel/definition/faults.js'
import { isMap } from '../../../kernel/definition/read-value.js'
import { httpState } from './http/sensor.js'
import { changeState } from './sql/change.js'
import { rowsState } from './sql/rows.js'
import { nothing, type StatePart } from './state-table.js'
import { sweepState } from './sweep/sweep.js'

const states = new Map<string, StatePart<unknown>>([
  ['s3', sweepState],
  ['files', sweepState],
  ['http', httpState],
  ['webhook', nothing],
  ['sql', changeState],
  ['sql-rows', rowsState],
])

/** The faults of a state of a built-in sensor type; none for other types, whose states are opaque. */
export function stateFaults(type: string, state: unknown): readonly Fault[] {
  // In code, the two SQL sensors have the same type.
  const isRows = type === 'sql' && isMap(state) && 'recent' in state
  const place = placeOf('state')
  states.get(isRows ? 'sql-rows' : type)?.(state, place)
  return place.faults
}
