/** What pages ask about sensors. */
import { queryOptions } from '@tanstack/react-query'
import type { Sensor } from '../../../src/client/operations.js'
import type { Mark } from '../design/marks.js'
import { api, wholeList } from './api.js'

/** All sensors. */
export const sensorsQuery = queryOptions({
  queryKey: ['sensors'],
  queryFn: ({ signal }) => wholeList((query) => api('GET /sensors', { query, signal })),
  meta: { topics: ['runs', 'ledger', 'triggers', 'holds'] },
})

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
