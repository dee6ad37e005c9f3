import type { Json } from '../../kernel/definition/json.js'
import type { TriggerInput } from '../../kernel/trigger/define-trigger.js'
import { usageError } from '../framework/usage-error.js'
import type { Surroundings } from '../framework/command.js'
import type { Option } from '../framework/syntax.js'
import { payloadOption, readPayload } from './payload-option.js'
import { readAs } from '../framework/option-names.js'
import { parseMoment } from '../../time/moment.js'
import { systemClock } from '../../time/clock.js'
import { readSlaInput } from '../framework/options/sla-options.js'

const grains = ['hour', 'day', 'previous-day', 'week', 'month'] as const
const overlaps = ['allow', 'skip', 'queue-one', 'queue-all', 'cancel-running', 'terminate-running'] as const
const modes = ['skip', 'latest', 'all'] as const
const onExcluded = ['skip', 'next-day'] as const
const policies = ['vixie', 'skip', 'real-time'] as const

/** The options of a trigger: its schedule, and its policies for late and overlapping instants. */
export const triggerOptions: readonly Option[] = [
  { name: 'cron', value: 'expression', help: 'when: a cron expression' },
  { name: 'every', value: 'duration', help: 'when: an interval, such as 15m' },
  { name: 'at', value: 'time', help: 'when: once, such as 2026-01-05T09:00, tomorrow or +2h' },
  { name: 'job', value: 'name', help: 'the job it triggers, unless one is added with it', completes: 'job' },
  { name: 'zone', key: 'timezone', value: 'zone', help: 'the IANA zone of --cron or --at; default: UTC' },
  { name: 'dst', value: 'policy', help: 'at clock changes; default: vixie', choices: policies },
  { name: 'after-finish', key: 'after', help: 'measure --every from the end of the previous run' },
  { name: 'immediate', help: 'with --every: also due immediately' },
  { name: 'start', value: 'time', help: 'nothing is due before it' },
  { name: 'end', value: 'time', help: 'nothing is due after it' },
  { name: 'count', value: 'n', help: 'the total number of due instants', whole: [1, 100_000] },
  {
    name: 'include',
    key: 'calendar.include',
    value: 'calendar',
    help: 'due only in these calendars',
    isList: true,
  },
  {
    name: 'exclude',
    key: 'calendar.exclude',
    value: 'calendar',
    help: 'not due in these calendars',
    isList: true,
  },
  {
    name: 'on-excluded',
    key: 'calendar.onExcluded',
    value: 'choice',
    help: 'what happens to an excluded instant; default: skip',
    choices: onExcluded,
  },
  payloadOption,
  { name: 'partition', value: 'grain', help: 'label each run with a period of data', choices: grains },
  {
    name: 'catch-up',
    value: 'mode',
    help: 'what to do about instants missed during downtime',
    choices: modes,
  },
  { name: 'overlap', value: 'policy', help: 'what to do while a run is unfinished', choices: overlaps },
  { name: 'jitter', value: 'duration', help: 'delay each run by up to this much' },
  { name: 'spread', value: 'duration', help: 'delay all runs by the same part of this' },
  { name: 'priority', value: 'n', help: 'higher goes first', whole: [-1_000_000, 1_000_000] },
  {
    name: 'pause-after',
    value: 'n',
    help: 'pause it after this many failed runs in a row',
    whole: [1, 1000],
  },
  { name: 'disabled', key: 'enabled', help: 'add it without starting it' },
]

/** The options that have no effect without a schedule. */
const onlyWithSchedule = triggerOptions
  .map(({ name }) => name)
  .filter((name) => !['cron', 'every', 'at'].includes(name))

/** Reads the trigger of the options, if there is one. The kernel checks it. */
export async function readTriggerInput(
  context: Surroundings,
  own: { readonly name: string; readonly hasJob: boolean },
): Promise<TriggerInput | undefined> {
  const { args } = context
  const when = ['cron', 'every', 'at'].filter((name) => args.flag(name))
  if (when.length > 1) {
    const faults = when.slice(1).map((name) => ({
      path: `--${name}`,
      message: `cannot be combined with --${when[0]}`,
    }))
    throw usageError(faults, 'see `rota add --help`')
  }
  if (when.length === 0) {
    refuseStray(onlyWithSchedule.filter((name) => args.flag(name)))
    return undefined
  }
  return {
    job: jobOf(context, own),
    cron: args.text('cron'),
    every: args.text('every'),
    ...readAt(context),
    dst: policies.find((one) => one === args.text('dst')),
    after: args.flag('after-finish') ? 'finish' : undefined,
    immediate: args.flag('immediate') ? true : undefined,
    start: readBound(context, 'start'),
    end: readBound(context, 'end'),
    count: args.whole('count'),
    ...readCalendar(context),
    payload: (await readPayload(context)) as Json | undefined,
    partition: grains.find((one) => one === args.text('partition')),
    catchUp: modes.find((one) => one === args.text('catch-up')),
    overlap: overlaps.find((one) => one === args.text('overlap')),
    jitter: args.text('jitter'),
    spread: args.text('spread'),
    priority: args.whole('priority'),
    pauseAfter: args.whole('pause-after'),
    sla: await readSlaInput(context),
    enabled: args.flag('disabled') ? false : undefined,
  }
}

/** A full time is passed with its zone to the kernel; a word such as tomorrow is converted to an instant here. */
function readAt(context: Surroundings): Pick<TriggerInput, 'at' | 'timezone'> {
  const { args } = context
  const at = args.text('at')
  const timezone = args.text('zone')
  return at === undefined || isFull(at) ? { at, timezone } : { at: momentIn(context, '--at', at) }
}

/** Names of calendars; `--zone` is the zone of their days. */
function readCalendar({ args }: Surroundings): Pick<TriggerInput, 'calendar'> {
  const [include, exclude] = [args.list('include'), args.list('exclude')]
  if (include.length + exclude.length === 0 && !args.flag('on-excluded')) return {}
  return {
    calendar: {
      ...(include.length === 0 ? {} : { include }),
      ...(exclude.length === 0 ? {} : { exclude }),
      onExcluded: onExcluded.find((one) => one === args.text('on-excluded')),
    },
  }
}

function readBound(context: Surroundings, name: 'start' | 'end'): string | Date | undefined {
  const text = context.args.text(name)
  return text === undefined || isFull(text) ? text : momentIn(context, `--${name}`, text)
}

function isFull(text: string): boolean {
  return /^\d{4}-\d\d-\d\d[T ]/.test(text)
}

function momentIn({ args }: Surroundings, option: string, text: string): Date {
  const here = { zone: args.text('zone') ?? 'UTC', now: systemClock.now() }
  return new Date(readAs(option, () => parseMoment(text, { ...here, bare: 'ahead' })))
}

function jobOf({ args }: Surroundings, { name, hasJob }: { name: string; hasJob: boolean }): string {
  const job = args.text('job')
  if (job !== undefined && hasJob) {
    const message = 'cannot be combined with a job that is added'
    throw usageError([{ path: '--job', message }], 'leave out either of them')
  }
  if (job !== undefined || hasJob) return job ?? name
  const message = 'no job is given'
  throw usageError(
    [{ path: '--job', message, allowed: '--job, --url, or -- command' }],
    '`rota list --jobs` shows the jobs',
  )
}

function refuseStray(names: readonly string[]): void {
  if (names.length === 0) return
  const faults = names.map((name) => ({
    path: `--${name}`,
    message: 'needs --cron, --every or --at',
  }))
  throw usageError(faults, 'see `rota add --help`')
}
