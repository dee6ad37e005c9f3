import type { Columns } from '../../cli/framework/print/table.js'
import { type Fields, printFields } from '../../cli/framework/print/fields.js'
import type { Output } from '../../cli/framework/print/output.js'
import { printTable } from '../../cli/framework/print/table.js'
import type { TimeText } from '../../cli/framework/print/time-text.js'
import { formatDuration } from '../../time/duration.js'
import { skipText } from './notice.js'
import type { RoundState, RoundStatus, ServiceTimes } from './status.js'

/** Prints the status of one round and of each of its services. */
export function printStatus(out: Output, status: RoundStatus): void {
  printFields(out, status, statusFields)
  out.line()
  printTable(out, linesOf(status, out.times()), [
    { key: 'service', shortest: 12 },
    { key: 'state', colors: { ok: 'green', error: 'red', running: 'cyan', '*': 'dim' } },
    { key: 'why', shortest: 20 },
  ])
}

const statusFields: Fields<RoundStatus> = {
  round: 'name',
  interval: 'intervalMs',
  checked: ({ checkedAt, resumed }, times) =>
    checkedAt === null ? 'not yet' : `${times.full(checkedAt)}${resumed ? ', resumed' : ''}`,
  completed: ({ completedCount, currentService, remainingServices }) => {
    const left = remainingServices.length + (currentService === null ? 0 : 1)
    return `${completedCount} of ${completedCount + left}`
  },
  'next check': ({ nextCheckAt }, times) =>
    nextCheckAt === null ? 'none' : `${times.full(nextCheckAt)}, ${times.distance(nextCheckAt)}`,
}

/** The status of each service, in the order of the list; then those of an earlier list. */
function linesOf(status: RoundStatus, times: TimeText): { service: string; state: string; why: string }[] {
  const told = [...status.results, ...status.skipped].map(({ service }) => service)
  const current = status.currentService === null ? [] : [status.currentService]
  const all = new Set([...status.services, ...told, ...current, ...status.remainingServices])
  return [...all].map((service) => {
    const result = status.results.find((one) => one.service === service)
    if (result !== undefined) return { service, state: result.status, why: result.info }
    if (status.currentService === service) return { service, state: 'running', why: '' }
    if (status.remainingServices.includes(service)) return { service, state: 'waiting', why: '' }
    const skip = status.skipped.find((one) => one.service === service)
    return skip === undefined
      ? { service, state: '-', why: '' }
      : { service, state: 'skipped', why: skipText(skip, times) }
  })
}

/** A round as it is listed. */
export type RoundRow = RoundStatus & { readonly state: string }

/** The columns of a list of rounds. */
export const roundColumns: Columns<RoundRow> = [
  { key: 'name', title: 'ROUND', shortest: 12 },
  { key: 'intervalMs', title: 'EVERY' },
  { key: 'services', shortest: 10 },
  { title: 'CURRENT', text: ({ currentService }) => currentService ?? '-', shortest: 8 },
  {
    title: 'NEXT (zone)',
    text: ({ nextCheckAt }, times) => (nextCheckAt === null ? '-' : times.short(nextCheckAt)),
    shortest: 14,
  },
  'state',
]

/** The columns of the timing of services. */
export const timingColumns: Columns<ServiceTimes> = [
  { key: 'service', shortest: 12 },
  { title: 'EVERY', text: ({ intervalSeconds }) => formatDuration(intervalSeconds * 1000), isRight: true },
  {
    title: 'LAST RUN (zone)',
    text: (one, times) => timeText(one.lastRunTimestamp, 'never', times),
    shortest: 19,
  },
  {
    title: 'DUE',
    text: (one, times) => timeText(one.nextDueTimestamp, 'at the next check', times),
    shortest: 19,
  },
]

function timeText(seconds: number | null, none: string, times: TimeText): string {
  return seconds === null ? none : times.full(seconds * 1000)
}

/** The columns of the saved states of open cycles. */
export const stateColumns: Columns<RoundState> = [
  { key: 'name', title: 'ROUND', shortest: 12 },
  { title: 'CHECKED (zone)', text: ({ checkedAt }, times) => times.full(checkedAt) },
  { title: 'CURRENT', text: ({ currentService }) => currentService ?? '-', shortest: 8 },
  { title: 'LEFT', text: ({ servicesQueue }) => servicesQueue.join(', ') || '-', shortest: 10 },
  {
    title: 'RESULTS',
    text: ({ results }) => results.map(({ service, status }) => `${service} ${status}`).join(', '),
    shortest: 10,
  },
]
