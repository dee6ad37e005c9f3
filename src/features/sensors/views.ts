import { formatDuration } from '../../time/duration.js'
import { type Fields, printFields } from '../../cli/framework/print/fields.js'
import type { Output } from '../../cli/framework/print/output.js'
import { type Columns, printTable } from '../../cli/framework/print/table.js'
import { roughly, type TimeText } from '../../cli/framework/print/time-text.js'
import { isHeard } from '../../kernel/trigger/trigger.js'
import { count } from '../../cli/framework/print/words.js'
import type { SensorSpec } from '../../kernel/trigger/schedule.js'
import type { Evaluation, SensorRecord } from './record.js'
import type { SensorInfo, SensorPreview } from './status.js'

/** The columns of a list of sensors. */
export const sensorColumns: Columns<SensorInfo> = [
  { key: 'name', title: 'SENSOR', shortest: 8 },
  'type',
  {
    key: 'condition',
    colors: { ok: 'green', failing: 'yellow', broken: 'red', paused: 'yellow', '*': 'dim' },
  },
  { title: 'POLLED', text: polledText },
  { title: 'NEXT', text: nextText },
  { title: 'FOUND', text: ({ record }) => String(record.found), isRight: true },
  { title: 'LAST', text: lastText, shortest: 6 },
]

function polledText({ spec, record }: SensorInfo, times: TimeText): string {
  const { lastFoundAt, lastPollAt } = record
  if (isHeard(spec)) return lastFoundAt === null ? 'nothing yet' : `received ${times.distance(lastFoundAt)}`
  return lastPollAt === null ? 'never' : times.distance(lastPollAt)
}

function nextText({ spec, nextAt, pollingSinceAt }: SensorInfo, times: TimeText): string {
  if (isHeard(spec)) return 'by webhook'
  if (pollingSinceAt !== undefined) return 'polling'
  return nextAt === undefined ? '' : times.distance(nextAt)
}

function lastText({ spec, record: { last, lastFoundAt } }: SensorInfo): string {
  if (last === null) return ''
  if (isHeard(spec) && last.kind === 'no-trigger') return lastFoundAt === null ? '' : 'waits for deliveries'
  switch (last.kind) {
    case 'trigger':
    case 'delivered':
      return `${last.kind === 'trigger' ? 'found' : 'got'} ${foundText(last)}`
    case 'error':
      return last.reason ?? 'failed'
    case 'no-trigger':
      return last.reason ?? `nothing, ${count(last.count, 'time')}`
  }
}

/** Prints one sensor in full. */
export function printSensor(out: Output, sensor: SensorInfo): void {
  const { spec, record } = sensor
  const fields = { ...aboutFields, ...(isHeard(spec) ? heardFields : polledFields), ...ruleFields }
  const state = (): string | undefined =>
    record.isInitialized ? stateText(record.state, out.width) : undefined
  printFields<SensorRow>(out, { ...spec, ...record, ...sensor }, { ...fields, state })
}

/** A sensor with its options and record as separate fields. */
type SensorRow = SensorSpec & SensorRecord & SensorInfo

const aboutFields: Fields<SensorRow> = {
  sensor: 'name',
  type: 'type',
  job: 'job',
  condition: 'condition',
  paused: ({ pause }) => pause && `by ${pause.actor}${pause.note === '' ? '' : `: ${pause.note}`}`,
}

const heardFields: Fields<SensorRow> = {
  source: ({ name }) => `webhook: \`rota up --webhooks\` accepts /webhooks/${name}`,
  'last arrival': ({ lastFoundAt }, times) => (lastFoundAt === null ? 'none yet' : times.exact(lastFoundAt)),
}

const polledFields: Fields<SensorRow> = {
  polled: ({ everyMs, timeoutMs }) => `every ${formatDuration(everyMs)}, within ${formatDuration(timeoutMs)}`,
  'next poll': 'nextAt',
  'polling since': 'pollingSinceAt',
  'last poll': 'lastPollAt',
  'last success': 'lastSuccessAt',
  'last found': 'lastFoundAt',
  polls: 'polls',
  lag: ({ lagMs }) => (lagMs === 0 ? undefined : roughly(lagMs)),
}

const ruleFields: Fields<SensorRow> = {
  zone: 'timezone',
  'once per': ({ dedupeMs, dedupeBy = 'key' }) => {
    const kept = dedupeMs === undefined ? 'for ever' : `for ${formatDuration(dedupeMs)}`
    return `${dedupeBy === 'key' ? 'key' : 'key and partition'}, ${kept}`
  },
  pauses: ({ pauseAfter }) =>
    pauseAfter === undefined ? undefined : `after ${pauseAfter} failures in a row`,
  found: 'found',
  failures: ({ failures }) => (failures === 0 ? undefined : `${failures} in a row`),
  last: lastText,
}

/** The columns of the polls of a sensor. */
export const historyColumns: Columns<Evaluation> = [
  { key: 'untilAt', title: 'UNTIL' },
  { title: 'SINCE', text: ({ fromAt, untilAt }, times) => (fromAt === untilAt ? '' : times.short(fromAt)) },
  {
    key: 'kind',
    title: 'RESULT',
    colors: { trigger: 'green', delivered: 'green', error: 'red', 'no-trigger': 'dim' },
  },
  { key: 'count', title: 'TIMES' },
  { title: 'FOUND', text: foundText, isRight: true },
  { title: 'TOOK', text: ({ tookMs }) => roughly(tookMs), isRight: true },
  { key: 'reason', shortest: 8 },
]

function foundText({ observations, fresh, kind }: Evaluation): string {
  if (kind === 'error' || observations === 0) return ''
  return fresh === observations ? String(fresh) : `${fresh} of ${observations}`
}

/** Prints what a poll would find. */
export function printPreview(out: Output, preview: SensorPreview, limit: number): void {
  const { observations, before, after } = preview
  const fresh = observations.filter(({ isNew }) => isNew).length
  const state = (value: unknown): string | undefined =>
    value === undefined ? undefined : stateText(value, out.width)
  printFields(out, preview, {
    result: 'kind',
    reason: 'reason',
    found: () => (observations.length === 0 ? undefined : `${observations.length}, ${fresh} of them new`),
    more: ({ more }) => (more ? 'yes' : undefined),
    'state before': () => state(before),
    'state after': () => state(after),
  })
  if (observations.length === 0) return
  out.line()
  printTable(out, observations.slice(0, limit), [
    { key: 'isNew', title: 'NEW' },
    { key: 'partition', shortest: 10 },
    { key: 'key', shortest: 12 },
    { key: 'payload', shortest: 8 },
  ])
  if (observations.length > limit)
    out.say(`… ${observations.length - limit} more; --limit shows more of them`)
}

/** A state may be very long: its beginning is printed. */
function stateText(state: unknown, width: number): string {
  const text = JSON.stringify(state)
  const most = 4 * width
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters; --json prints all)`
}
