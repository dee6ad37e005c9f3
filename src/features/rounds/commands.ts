import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { Rounds } from './api.js'
import {
  type Command,
  type Context,
  exitCodes,
  storeOptions,
  zoneOption,
} from '../../cli/framework/command.js'
import { assertName } from '../../cli/framework/names.js'
import { withOptionNames } from '../../cli/framework/option-names.js'
import { pick } from '../../cli/framework/print/json.js'
import { printList } from '../../cli/framework/print/list.js'
import type { Argument, Option } from '../../cli/framework/syntax.js'
import type { RoundState } from './status.js'
import { printStatus, roundColumns, roundState, stateColumns, timingColumns } from './views.js'

/** What these commands use of an app. */
export interface RoundsApp {
  readonly rounds: Rounds
  store(): Promise<Store>
  now(): Instant
}

const roundName: Argument = { name: 'name', help: 'the round', completes: 'trigger' }
const everyOption: Option = { name: 'every', value: 'duration', help: 'the interval' }

const start: Command<RoundsApp> = {
  name: 'start',
  summary: 'create, change or restart a round',
  about:
    'Creates a round, or gives a running one another interval or list of services. A stopped round needs only its name.',
  arguments: [roundName],
  options: [
    everyOption,
    {
      name: 'service',
      short: 's',
      value: 'job[=duration]',
      help: 'a service, and how often it runs if not at every check; in order',
      isList: true,
    },
    ...storeOptions,
  ],
  examples: [
    {
      line: 'rota round start crawlers --every 1h -s crawl -s report=24h',
      meaning: 'hourly and daily services in one round',
    },
    { line: 'rota round start crawlers', meaning: 'restart a stopped round' },
  ],
  run: (context) =>
    context.withApp(async (app) => {
      const { args, out } = context
      const name = args.word(0)
      assertName(name, '<name>')
      const services = args.list('service').map(serviceOf)
      await withOptionNames(optionNames, () =>
        app.rounds.start(name, {
          ...(args.flag('every') ? { every: durationOf(args.text('every') ?? '') } : {}),
          ...(services.length === 0 ? {} : { services }),
        }),
      )
      const text = `started round ${name}; \`rota round status ${name}\` shows its state`
      out.show(await app.rounds.status(name), text)
      const { roundWarning } = await import('./store-rounds.js')
      const warning = await roundWarning(await app.store(), name)
      if (warning !== undefined) out.note(`warning: ${warning}`)
      return exitCodes.ok
    }),
}

const optionNames = { name: '<name>', every: '--every', services: '--service' }

/** A name never has an equals sign. */
function serviceOf(text: string): string | { job: string; every: string | number } {
  const [job = '', every] = text.split('=', 2)
  return every === undefined ? job : { job, every: durationOf(every) }
}

/** A number alone is milliseconds, as it is everywhere else. */
function durationOf(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text
}

const stop: Command<RoundsApp> = {
  name: 'stop',
  summary: 'stop a round after its current service',
  about: 'Stops a round. The current service finishes; the services that are left are kept.',
  arguments: [roundName],
  options: storeOptions,
  examples: [{ line: 'rota round stop crawlers', meaning: 'no more checks' }],
  run: (context) =>
    context.withApp(async (app) => {
      const name = context.args.word(0)
      await app.rounds.stop(name)
      const [kept] = await app.rounds.state(name)
      const left = kept === undefined ? 0 : kept.servicesQueue.length + (kept.currentService === null ? 0 : 1)
      const rest = left === 0 ? '' : `; its next start continues with ${left} of its services`
      context.out.show({ name, stopped: true, left }, `stopped round ${name}${rest}`)
      return exitCodes.ok
    }),
}

const status: Command<RoundsApp> = {
  name: 'status',
  summary: 'show a round and its services',
  about: 'Shows the last check of a round, what it does now, and what becomes of each service.',
  arguments: [roundName],
  options: [zoneOption, ...storeOptions],
  examples: [{ line: 'rota round status crawlers', meaning: 'what it does, and what is left' }],
  run: (context) =>
    context.withApp(async (app) => {
      const found = await app.rounds.status(context.args.word(0))
      context.out.show(found, () => printStatus(context.out, found))
      return exitCodes.ok
    }),
}

const setTiming: Command<RoundsApp> = {
  name: 'set',
  summary: 'change how often a service runs',
  arguments: [{ name: 'service', help: 'the service', completes: 'job' }],
  options: [{ ...everyOption, isRequired: true }, ...storeOptions],
  examples: [{ line: 'rota round timing set report --every 12h', meaning: 'twice a day from now on' }],
  run: (context) =>
    context.withApp(async (app) => {
      const { args, out } = context
      const service = args.word(0)
      const every = durationOf(args.text('every') ?? '')
      const times = await withOptionNames(optionNames, () => app.rounds.setTiming(service, { every }))
      out.show(times, `${service} runs every ${args.text('every')}`)
      return exitCodes.ok
    }),
}

const timing: Command<RoundsApp> = {
  name: 'timing',
  summary: 'show when services ran last and are due',
  about: 'Shows when services ran last and when they are due again, in --json in Unix seconds.',
  arguments: [{ name: 'service', help: 'one service; default: all', isOptional: true, completes: 'job' }],
  options: [zoneOption, ...storeOptions],
  examples: [{ line: 'rota round timing --json', meaning: 'all services, for a program' }],
  subcommands: [setTiming],
  run: (context) =>
    context.withApp(async (app) => {
      const { args, out } = context
      const service = args.optionalWord(0)
      const list = {
        empty: 'no services yet; `rota round start` creates a round of them',
        columns: timingColumns,
      }
      if (service === undefined) printList(out, await app.rounds.services(), list)
      else {
        const one = await app.rounds.timing(service)
        out.show(one, () => printList(out, [one], list))
      }
      return exitCodes.ok
    }),
}

const state: Command<RoundsApp> = {
  name: 'state',
  summary: 'show the saved state of open cycles',
  arguments: [{ ...roundName, help: 'one round; default: all', isOptional: true }],
  options: [zoneOption, ...storeOptions],
  examples: [{ line: 'rota round state crawlers', meaning: 'what a restart continues with' }],
  run: (context) =>
    context.withApp(async (app) => {
      const { args, out } = context
      const name = args.optionalWord(0)
      const found = await app.rounds.state(name)
      const [first] = found
      if (name !== undefined && out.isJson) out.json(first === undefined ? null : savedOf(first))
      else {
        printList(out, found, {
          empty: name === undefined ? 'no cycle is open' : `${name} has no open cycle`,
          columns: stateColumns,
          json: (saved) => ({ round: saved.name, ...savedOf(saved) }),
        })
      }
      return exitCodes.ok
    }),
}

function savedOf(state: RoundState): Omit<RoundState, 'name'> {
  return pick(state, ['checkedAt', 'servicesQueue', 'currentService', 'results'])
}

const list: Command<RoundsApp> = {
  name: 'list',
  summary: 'list the rounds',
  options: [{ name: 'all', short: 'a', help: 'also the stopped ones' }, zoneOption, ...storeOptions],
  examples: [{ line: 'rota round list --all', meaning: 'also those that were stopped' }],
  run: (context) => context.withApp(async (app) => await showList(context, app)),
}

async function showList({ args, out }: Context<RoundsApp>, app: RoundsApp): Promise<number> {
  const { storedRounds } = await import('./status.js')
  const store = await app.store()
  const rounds = await storedRounds(store, { all: args.flag('all') })
  const holds = await store.holds({ openAt: app.now() })
  const rows = await Promise.all(
    rounds.map(async (stored) => {
      const status = await app.rounds.status(stored.trigger.name)
      return { ...status, status, state: roundState(stored, holds) }
    }),
  )
  printList(out, rows, {
    empty: 'no rounds yet; `rota round start` creates one, `rota up` those of a config',
    columns: roundColumns,
    json: ({ status: found }) => found,
  })
  return exitCodes.ok
}

/** `rota round`: rounds of services. */
export const round: Command<RoundsApp> = {
  name: 'round',
  about:
    'A round checks a list of services at an interval and runs those that are due, one after another. A service has its own interval, and is due when that has passed.',
  examples: [
    {
      line: 'rota round start crawlers --every 1h -s crawl -s report=24h',
      meaning: 'hourly and daily services in one round',
    },
    { line: 'rota round status crawlers', meaning: 'what it does, and what is left' },
  ],
  subcommands: [start, stop, status, timing, state, list],
}
