import { assertName } from '../../cli/framework/names.js'
import type { Rota } from '../../app/rota.js'
import { chosenWord, type OptionOwners, refuseStray } from '../../cli/framework/actions.js'
import {
  type Command,
  type Context,
  exitCodes,
  storeOptions,
  zoneOption,
} from '../../cli/framework/command.js'
import { withOptionNames } from '../../cli/framework/option-names.js'
import { withApp } from '../../cli/host/with-app.js'
import { usageError } from '../../cli/framework/usage-error.js'

const actions = ['start', 'stop', 'status', 'timing', 'state', 'list'] as const

/** `rota round`: rounds of services, as they stand and as they are started and stopped. */
export const round: Command = {
  name: 'round',
  about:
    'A round checks a list of services every interval and performs those that are due, one after another; a service has its own interval and runs when that has passed. start makes a round, or gives one that runs another interval or list; a stopped one needs its name only. stop lets the current service finish and keeps what is left. status tells how a round stands, state what is saved of an open cycle, timing when services ran last; timing set changes how often one is to run.',
  arguments: [
    { name: 'action', help: actions.join(', '), choices: actions },
    { name: 'name', help: 'the round; for timing a service, or set', isOptional: true, completes: 'trigger' },
    { name: 'service', help: 'for timing set', isOptional: true, completes: 'job' },
  ],
  options: [
    { name: 'every', value: 'duration', help: 'for start and timing set: the interval' },
    {
      name: 'service',
      short: 's',
      value: 'job[=duration]',
      help: 'for start: a service, and how often it runs where not at every check; once for each, in order',
      isList: true,
    },
    { name: 'all', short: 'a', help: 'list the stopped ones too' },
    zoneOption,
    ...storeOptions,
  ],
  examples: [
    {
      line: 'rota round start crawlers --every 1h -s crawl -s report=24h',
      meaning: 'hourly and daily services in one round',
    },
    { line: 'rota round status crawlers', meaning: 'what it is at, and what is left' },
    { line: 'rota round timing set report --every 12h', meaning: 'twice a day from now on' },
    { line: 'rota round timing --json', meaning: 'when every service ran last, for a program' },
    { line: 'rota round stop crawlers', meaning: 'no more checks; what is left is kept' },
    { line: 'rota round start crawlers', meaning: 'go on with it' },
  ],
  run: async (context) => {
    const asked = askedOf(context)
    return await withApp(context, (app) => act(context, app, asked))
  },
}

type Action = (typeof actions)[number]

/** What was asked for: of which round, or of which service. */
interface Asked {
  readonly action: Action | 'timing set'
  readonly name: string | undefined
}

function askedOf(context: Context): Asked {
  const { args } = context
  const [name, service] = [args.optionalWord(1), args.optionalWord(2)]
  const action = chosenWord(args.word(0), { command: 'round', known: actions })
  const isSet = action === 'timing' && name === 'set'
  refuseStray(context, isSet ? 'timing set' : action, { command: 'round', owners })
  if (isSet) {
    if (service === undefined) throw refused('<service>', 'it is missing', 'the name of a service')
    if (args.text('every') === undefined) throw refused('--every', 'it is missing', 'a duration such as 24h')
    return { action: 'timing set', name: service }
  }
  if (service !== undefined) throw refused(service, 'nothing expects this word')
  const needsName = action === 'start' || action === 'stop' || action === 'status'
  if (needsName && name === undefined) throw refused('<name>', 'it is missing', 'the name of a round')
  if (action === 'list' && name !== undefined) throw refused(name, 'list takes no name')
  return { action, name }
}

const owners: OptionOwners<Asked['action']> = {
  every: ['start', 'timing set'],
  service: ['start'],
  all: ['list'],
}

function refused(path: string, message: string, allowed?: string): Error {
  return usageError([{ path, message, allowed }], '`rota round --help` shows examples')
}

async function act(context: Context, app: Rota, { action, name = '' }: Asked): Promise<number> {
  switch (action) {
    case 'start':
      return await start(context, app, name)
    case 'stop':
      return await stop(context, app, name)
    case 'timing set':
      return await setTiming(context, app, name)
    case 'status':
      return await (await import('./tables.js')).showStatus(context, app, name)
    case 'timing':
      return await (await import('./tables.js')).showTiming(context, app, name)
    case 'state':
      return await (await import('./tables.js')).showState(context, app, name)
    case 'list':
      return await (await import('./tables.js')).showList(context, app)
  }
}

const optionNames = { name: '<name>', every: '--every', services: '--service' }

async function start(context: Context, app: Rota, name: string): Promise<number> {
  const { args, out } = context
  assertName(name, '<name>')
  const services = args.list('service').map(serviceOf)
  await withOptionNames(optionNames, () =>
    app.rounds.start(name, {
      ...(args.flag('every') ? { every: durationOf(args.text('every') ?? '') } : {}),
      ...(services.length === 0 ? {} : { services }),
    }),
  )
  if (args.flag('json')) {
    const { roundView } = await import('./views.js')
    out.json(roundView(await app.rounds.status(name)))
  } else out.say(`started round ${name}; \`rota round status ${name}\` tells how it stands`)
  const { roundWarning } = await import('./store-rounds.js')
  const warning = await roundWarning(await app.store(), name)
  if (warning !== undefined) out.note(`warning: ${warning}`)
  return exitCodes.ok
}

/** A name never has an equals sign. */
function serviceOf(text: string): string | { job: string; every: string | number } {
  const [job = '', every] = text.split('=', 2)
  return every === undefined ? job : { job, every: durationOf(every) }
}

/** A number alone is milliseconds, as it is everywhere else. */
function durationOf(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text
}

async function stop({ args, out }: Context, app: Rota, name: string): Promise<number> {
  await app.rounds.stop(name)
  const [kept] = await app.rounds.state(name)
  const left = kept === undefined ? 0 : kept.servicesQueue.length + (kept.currentService === null ? 0 : 1)
  if (args.flag('json')) out.json({ name, stopped: true, left })
  else
    out.say(
      `stopped round ${name}${left === 0 ? '' : `; ${left} of its services ${left === 1 ? 'is' : 'are'} left for its next start`}`,
    )
  return exitCodes.ok
}

async function setTiming({ args, out }: Context, app: Rota, service: string): Promise<number> {
  const every = durationOf(args.text('every') ?? '')
  const times = await withOptionNames(optionNames, () => app.rounds.setTiming(service, { every }))
  if (args.flag('json')) {
    const { timingView } = await import('./views.js')
    out.json(timingView(times))
  } else out.say(`${service} runs every ${args.text('every')}`)
  return exitCodes.ok
}
