import type { Sensor } from '../../../src/client/operations.js'
import type { Mark } from '../design/marks.js'

/** The mark of a sensor. */
export const sensorMarks: Readonly<Record<Sensor['condition'], Mark>> = {
  waiting: 'due',
  ok: 'on',
  failing: 'retrying',
  broken: 'failed',
  paused: 'paused',
  off: 'switch',
  ended: 'cancelled',
}

/** The address of the page of a sensor. */
export function sensorHref(name: string): string {
  return `/sensors/${encodeURIComponent(name)}`
}
