import {
  type Command,
  type Surroundings,
  changeOptions,
  onApp,
  storeOptions,
  zoneOption,
} from '../../cli/framework/command.js'
import { assertName } from '../../cli/framework/names.js'
import type { RoundInput } from './definition.js'
import type { RoundsApp } from './json-views.js'
import { readSlaInput, slaOptions } from '../../cli/framework/options/sla-options.js'
import { printList, printTable } from '../../cli/framework/print/table.js'
import type { Argument, Option } from '../../cli/framework/syntax.js'
import { printStatus, roundColumns, stateColumns, timingColumns } from './views.js'

const roundName: Argument = { name: 'name', help: 'the round', completes: 'trigger' }
const everyOption: Option = { name: 'every', value: 'duration', help: 'the interval' }

const calendarOptions: readonly Option[] = [
  {
    name: 'include',
    key: 'calendar.include',
    value: 'calendar',
    help: 'check only in these calendars',
    isList: true,
  },
  {
    name: 'exclude',
    key: 'calendar.exclude',
    value: 'calendar',
    help: 'do not check in these calendars',
    isList: true,
  },
  {
    name: 'zone',
    key: 'timezone',
    value: 'zone',
    help: 'the IANA zone of the days of --include and --exclude; default: UTC',
  },
]

const start: Command<RoundsApp> = {
  name: 'start',
  summary: 'create, change or restart a round',
  about:
    'Creates a round, or gives a running one another interval, list of services, calendar or SLA. A stopped round needs only its name. Calendars replace all calendars and blackouts of the round, and SLA options all its promises.',
  arguments: [roundName],
  options: [
    everyOption,
    {
      name: 'service',
      key: 'services',
      short: 's',
      value: 'job[=duration]',
      help: 'a service, and how often it runs if not at every check; in order',
      isList: true,
    },
    ...calendarOptions,
    ...slaOptions,
    ...changeOptions,
  ],
  examples: {
    'rota round start crawlers --every 1h -s crawl -s report=24h': 'hourly and daily services in one round',
    'rota round start crawlers --exclude holidays': 'no checks on the days of a calendar of the config',
    'rota round start crawlers --finished-within 20m': 'a promise about each of its checks',
    'rota round start crawlers': 'restart a stopped round',
  },
  run: onApp(async (app, context) => {
    const { args, out } = context
    const name = args.word(0)
    assertName(name, '<name>')
    const services = args.list('service').map(serviceOf)
    const dryRun = args.flag('dry-run')
    await app.rounds.start(name, {
      ...(args.flag('every') ? { every: durationOf(args.text('every') ?? '') } : {}),
      ...(services.length === 0 ? {} : { services }),
      ...calendarOf(context),
      sla: await readSlaInput(context),
      dryRun,
    })
    const text = `started round ${name}; \`rota round status ${name}\` shows its state`
    if (dryRun) return out.show({ name }, text)
    out.show(await app.rounds.status(name), text)
    const { roundWarning } = await import('./store-rounds.js')
    const warning = await roundWarning(await app.store(), name)
    if (warning !== undefined) out.note(`warning: ${warning}`)
  }),
}

function calendarOf({ args }: Surroundings): Pick<RoundInput, 'calendar' | 'timezone'> {
  const [include, exclude] = [args.list('include'), args.list('exclude')]
  const named = {
    ...(include.length === 0 ? {} : { include }),
    ...(exclude.length === 0 ? {} : { exclude }),
  }
  return {
    ...(include.length + exclude.length === 0 ? {} : { calendar: named }),
    timezone: args.text('zone'),
  }
}

/** Names never contain an equals sign. */
function serviceOf(text: string): string | { job: string; every: string | number } {
  const [job = '', every] = text.split('=', 2)
  return every === undefined ? job : { job, every: durationOf(every) }
}

/** A number without a unit is milliseconds, as everywhere. */
function durationOf(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text
}

const stop: Command<RoundsApp> = {
  name: 'stop',
  summary: 'stop a round after its current service',
  about: 'Stops a round. The current service finishes; the services that are left are kept.',
  arguments: [roundName],
  options: changeOptions,
  examples: { 'rota round stop crawlers': 'no more checks' },
  run: onApp(async (app, { args, out }) => {
    const name = args.word(0)
    await app.rounds.stop(name, { dryRun: args.flag('dry-run') })
    const [kept] = await app.rounds.state(name)
    const left = kept === undefined ? 0 : kept.servicesQueue.length + (kept.currentService === null ? 0 : 1)
    const rest = left === 0 ? '' : `; its next start continues with ${left} of its services`
    out.show({ name, stopped: true, left }, `stopped round ${name}${rest}`)
  }),
}

const status: Command<RoundsApp> = {
  name: 'status',
  summary: 'show a round and its services',
  about: 'Shows the last check of a round, what it does now, and the state of each service.',
  arguments: [roundName],
  options: [zoneOption, ...storeOptions],
  examples: { 'rota round status crawlers': 'what it does, and what is left' },
  run: onApp(async (app, { args, out }) => {
    const found = await app.rounds.status(args.word(0))
    out.show(found, () => printStatus(out, found))
  }),
}

const setTiming: Command<RoundsApp> = {
  name: 'set',
  summary: 'change how often a service runs',
  arguments: [{ name: 'service', help: 'the service', completes: 'job' }],
  options: [{ ...everyOption, isRequired: true }, ...changeOptions],
  examples: { 'rota round timing set report --every 12h': 'twice a day from now on' },
  run: onApp(async (app, { args, out }) => {
    const service = args.word(0)
    const every = durationOf(args.text('every') ?? '')
    const times = await app.rounds.setTiming(service, { every, dryRun: args.flag('dry-run') })
    out.show(times, `${service} runs every ${args.text('every')}`)
  }),
}

const timing: Command<RoundsApp> = {
  name: 'timing',
  summary: 'show when services ran last and are due',
  about: 'Shows when services ran last and when they are due again, in --json in Unix seconds.',
  arguments: [{ name: 'service', help: 'one service; default: all', isOptional: true, completes: 'job' }],
  options: [zoneOption, ...storeOptions],
  examples: { 'rota round timing --json': 'all services, for a program' },
  subcommands: [setTiming],
  run: onApp(async (app, { args, out }) => {
    const service = args.optionalWord(0)
    const empty = 'no services yet; `rota round start` creates a round of them'
    if (service === undefined)
      return printList(out, await app.rounds.services(), { empty, columns: timingColumns })
    const one = await app.rounds.timing(service)
    out.show(one, () => printTable(out, [one], timingColumns))
  }),
}

const state: Command<RoundsApp> = {
  name: 'state',
  summary: 'show the saved state of open cycles',
  arguments: [{ ...roundName, help: 'one round; default: all', isOptional: true }],
  options: [zoneOption, ...storeOptions],
  examples: { 'rota round state crawlers': 'what a restart continues with' },
  run: onApp(async (app, { args, out }) => {
    const name = args.optionalWord(0)
    const { cycleView } = await import('./json-views.js')
    const found = await app.rounds.state(name)
    const [first] = found
    if (name !== undefined && out.isJson) return out.json(first && cycleView(first))
    printList(out, found, {
      empty: name === undefined ? 'no cycle is open' : `${name} has no open cycle`,
      columns: stateColumns,
      json: (saved) => ({ round: saved.name, ...cycleView(saved) }),
    })
  }),
}

const list: Command<RoundsApp> = {
  name: 'list',
  summary: 'list the rounds',
  options: [{ name: 'all', short: 'a', help: 'also the stopped ones' }, zoneOption, ...storeOptions],
  examples: { 'rota round list --all': 'also those that were stopped' },
  run: onApp(async (app, { args, out }) => {
    const { listRounds } = await import('./json-views.js')
    const rows = await listRounds(app, { all: args.flag('all') })
    printList(out, rows, {
      empty: 'no rounds yet; `rota round start` creates one, `rota up` those of a config',
      columns: roundColumns,
    })
  }),
}

/** `rota round`: rounds of services. */
export const round: Command<RoundsApp> = {
  name: 'round',
  about:
    'A round checks a list of services at an interval and runs those that are due, one after another. A service has its own interval, and is due when that has passed.',
  examples: {
    'rota round start crawlers --every 1h -s crawl -s report=24h': 'hourly and daily services in one round',
    'rota round status crawlers': 'what it does, and what is left',
  },
  subcommands: [start, stop, status, timing, state, list],
}
