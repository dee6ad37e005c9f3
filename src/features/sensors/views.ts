import { formatDuration } from '../../time/duration.js'
import type { Evaluation } from './record.js'
import type { SensorInfo, SensorPreview } from './status.js'
import type { Rota } from '../../app/rota.js'
import { unknownSensor } from './status.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import type { Context } from '../../cli/framework/command.js'
import { type Field, printFields } from '../../cli/framework/print/fields.js'
import type { Paint } from '../../cli/framework/print/output.js'
import { count, isHeard } from '../../cli/views/in-words.js'
import { printTable } from '../../cli/framework/print/table.js'
import { roughly, type TimeText } from '../../cli/framework/print/time-text.js'
import { timesOf } from '../../cli/framework/times-of.js'

/** The named sensor. */
export async function oneSensor(app: Rota, name: string): Promise<SensorInfo> {
  const sensors = await app.sensors.list()
  const found = sensors.find((one) => one.name === name)
  if (found !== undefined) return found
  throw unknownSensor(
    name,
    sensors.map((one) => one.name),
  )
}

/** A sensor for a program, without its state. */
export function sensorView(sensor: SensorInfo) {
  const { name, type, job, condition, spec, nextAt, pollingSince, pause, record } = sensor
  return {
    name,
    type,
    job,
    condition,
    everyMs: spec.everyMs,
    timeoutMs: spec.timeoutMs,
    timezone: spec.timezone,
    dedupe: { by: spec.dedupeBy ?? 'key', forMs: spec.dedupeMs ?? null },
    pauseAfter: spec.pauseAfter ?? null,
    nextAt: iso(nextAt),
    pollingSince: iso(pollingSince),
    pause: pause === undefined ? null : { by: pause.actor, note: pause.note, untilAt: iso(pause.untilAt) },
    polls: record.polls,
    found: record.found,
    failures: record.failures,
    lagMs: record.lagMs,
    lastPollAt: iso(record.lastPollAt),
    lastSuccessAt: iso(record.lastSuccessAt),
    lastFoundAt: iso(record.lastFoundAt),
    last: record.last === null ? null : evaluationView(record.last),
  }
}

/** What a poll came to, for a program. */
export function evaluationView(evaluation: Evaluation) {
  const { fromAt, untilAt, ...rest } = evaluation
  return { ...rest, fromAt: iso(fromAt), untilAt: iso(untilAt) }
}

/** What a poll would come to, for a program. */
export function previewView({ kind, reason, observations, more, before, after }: SensorPreview) {
  return { kind, reason: reason ?? null, observations, more, before: before ?? null, after: after ?? null }
}

/** Prints sensors as a table. */
export function printSensors(context: Context, sensors: readonly SensorInfo[]): void {
  const { out } = context
  if (sensors.length === 0) {
    out.say('no sensors; a config defines them under sensors')
    return
  }
  const times = timesOf(context)
  const { green, yellow, red, dim } = out.colors
  const paints: Readonly<Record<SensorInfo['condition'], Paint>> = {
    ok: green,
    waiting: dim,
    failing: yellow,
    broken: red,
    paused: yellow,
    off: dim,
    ended: dim,
  }
  printTable(out, sensors, [
    { title: 'SENSOR', text: ({ name }) => name, shortest: 8 },
    { title: 'TYPE', text: ({ type }) => type },
    { title: 'CONDITION', text: ({ condition }) => condition, paint: ({ condition }) => paints[condition] },
    { title: 'POLLED', text: (sensor) => polledText(sensor, times) },
    { title: 'NEXT', text: (sensor) => nextText(sensor, times) },
    { title: 'FOUND', text: ({ record }) => String(record.found), isRight: true },
    { title: 'LAST', text: (sensor) => lastText(sensor), shortest: 6 },
  ])
}

/** Prints one sensor in full. */
export function printSensor(context: Context, sensor: SensorInfo): void {
  const { out } = context
  const times = timesOf(context)
  const { spec, record, pause } = sensor
  const { dedupeMs, dedupeBy = 'key', pauseAfter } = spec
  const kept = dedupeMs === undefined ? 'for ever' : `for ${formatDuration(dedupeMs)}`
  const when = (at: Instant | null): string | undefined => (at === null ? undefined : times.exact(at))
  printFields(context.out, [
    ['sensor', sensor.name],
    ['type', sensor.type],
    ['triggers', sensor.job],
    ['condition', sensor.condition],
    [
      'paused',
      pause === undefined ? undefined : `by ${pause.actor}${pause.note === '' ? '' : `: ${pause.note}`}`,
    ],
    ...howFields(sensor, when),
    ['zone', spec.timezone],
    ['once per', `${dedupeBy === 'key' ? 'key' : 'key and partition'}, ${kept}`],
    ['pauses', pauseAfter === undefined ? undefined : `after ${pauseAfter} failures in a row`],
    ['found', String(record.found)],
    ['failures', record.failures === 0 ? undefined : `${record.failures} in a row`],
    ['last', lastText(sensor)],
    ['state', record.isInitialized ? stateText(record.state, out.width) : undefined],
  ])
}

/** How a sensor comes to know of things, and when it last did. */
function howFields(sensor: SensorInfo, when: (at: Instant | null) => string | undefined): readonly Field[] {
  const { name, spec, record } = sensor
  if (isHeard(spec)) {
    return [
      ['heard', `by webhook: \`rota up --webhooks\` takes /webhooks/${name}`],
      ['last arrival', when(record.lastFoundAt) ?? 'none yet'],
    ]
  }
  return [
    ['polled', `every ${formatDuration(spec.everyMs)}, within ${formatDuration(spec.timeoutMs)}`],
    ['next poll', when(sensor.nextAt ?? null)],
    ['polling since', when(sensor.pollingSince ?? null)],
    ['last poll', when(record.lastPollAt)],
    ['last success', when(record.lastSuccessAt)],
    ['last found', when(record.lastFoundAt)],
    ['polls', String(record.polls)],
    ['lag', record.lagMs === 0 ? undefined : roughly(record.lagMs)],
  ]
}

/** Prints what polls came to, newest first. */
export function printHistory(context: Context, history: readonly Evaluation[]): void {
  const { out } = context
  if (history.length === 0) {
    out.say('it was not polled yet')
    return
  }
  const times = timesOf(context)
  const { green, red, dim } = out.colors
  const paints = { trigger: green, delivered: green, error: red, 'no-trigger': dim }
  printTable(out, history, [
    { title: 'UNTIL', text: ({ untilAt }) => times.short(untilAt) },
    { title: 'SINCE', text: ({ fromAt, untilAt }) => (fromAt === untilAt ? '' : times.short(fromAt)) },
    { title: 'CAME TO', text: ({ kind }) => kind, paint: ({ kind }) => paints[kind] },
    { title: 'TIMES', text: (one) => String(one.count), isRight: true },
    { title: 'FOUND', text: foundText, isRight: true },
    { title: 'TOOK', text: ({ tookMs }) => roughly(tookMs), isRight: true },
    { title: 'REASON', text: ({ reason }) => reason ?? '', shortest: 8 },
  ])
}

/** Prints what a poll would come to. */
export function printPreview(context: Context, preview: SensorPreview, limit: number): void {
  const { out } = context
  const { kind, reason, observations, more, before, after } = preview
  const fresh = observations.filter(({ isNew }) => isNew).length
  printFields(out, [
    ['came to', kind],
    ['reason', reason],
    ['found', observations.length === 0 ? undefined : `${observations.length}, ${fresh} of them new`],
    ['more', more ? 'yes' : undefined],
    ['state before', before === undefined ? undefined : stateText(before, out.width)],
    ['state after', after === undefined ? undefined : stateText(after, out.width)],
  ])
  if (observations.length === 0) return
  out.line()
  printTable(out, observations.slice(0, limit), [
    { title: 'NEW', text: ({ isNew }) => (isNew ? 'yes' : 'no') },
    { title: 'PARTITION', text: ({ partition }) => partition, shortest: 10 },
    { title: 'KEY', text: ({ key }) => key, shortest: 12 },
    {
      title: 'PAYLOAD',
      text: ({ payload }) => (payload === undefined ? '' : JSON.stringify(payload)),
      shortest: 8,
    },
  ])
  if (observations.length > limit)
    out.say(`… ${observations.length - limit} more; --limit shows more of them`)
}

/** States may be as long as a book, and a book is not what was asked for. */
function stateText(state: unknown, width: number): string {
  const text = JSON.stringify(state)
  const most = 4 * width
  return text.length <= most
    ? text
    : `${text.slice(0, most)}… (${text.length} characters; --json has them all)`
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

function foundText({ observations, fresh, kind }: Evaluation): string {
  if (kind === 'error' || observations === 0) return ''
  return fresh === observations ? String(fresh) : `${fresh} of ${observations}`
}

function polledText({ spec, record }: SensorInfo, times: TimeText): string {
  if (!isHeard(spec)) return distance(record.lastPollAt, times)
  return record.lastFoundAt === null ? 'nothing heard' : `heard ${times.distance(record.lastFoundAt)}`
}

function nextText({ spec, nextAt, pollingSince }: SensorInfo, times: TimeText): string {
  if (isHeard(spec)) return 'by webhook'
  if (pollingSince !== undefined) return 'polling'
  return nextAt === undefined ? '' : times.distance(nextAt)
}

function distance(at: Instant | null, times: TimeText): string {
  return at === null ? 'never' : times.distance(at)
}

function iso(at: Instant | null | undefined): string | null {
  return at === null || at === undefined ? null : formatInstant(at)
}
