import type { Rota } from '../../app/rota.js'
import { chosenWord, type OptionOwners, refuseStray } from '../../cli/framework/actions.js'
import {
  type Command,
  type Context,
  exitCodes,
  storeOptions,
  zoneOption,
} from '../../cli/framework/command.js'
import { configOf, noConfig } from '../../cli/host/config-of.js'
import { holdOptions, readHold } from '../../cli/framework/hold-options.js'
import { count } from '../../cli/views/in-words.js'
import { usageError } from '../../cli/framework/usage-error.js'
import { storeOf, withApp } from '../../cli/host/with-app.js'

const actions = ['list', 'show', 'history', 'preview', 'reset', 'pause', 'resume'] as const
type Action = (typeof actions)[number]

/** `rota sensor`: looks at sensors and puts them in order. */
export const sensor: Command = {
  name: 'sensor',
  about:
    'list shows every sensor and how it fares; show prints one in full, with its state. history tells what its polls came to, with the reasons; polls that came to the same are one line. preview polls it once, from its own state or from --state, and changes nothing; it needs the config that defines it. reset lets it begin anew, or from --state: --keep-keys leaves what was seen seen, --forget-keys has everything that it finds triggered again. pause and resume hold it back and let it go on.',
  arguments: [
    { name: 'action', help: actions.join(', '), choices: actions },
    { name: 'sensor', help: 'which one; all but list need it', isOptional: true, completes: 'trigger' },
  ],
  options: [
    { name: 'state', value: 'json', help: 'for preview and reset: the state to begin with', isContent: true },
    { name: 'keep-keys', help: 'for reset: what was seen stays seen' },
    { name: 'forget-keys', help: 'for reset: what was seen is forgotten' },
    {
      name: 'limit',
      value: 'n',
      help: 'for history and preview: how many lines; default 20',
      whole: { min: 1, max: 100_000 },
    },
    ...holdOptions,
    zoneOption,
    ...storeOptions,
  ],
  examples: [
    { line: 'rota sensor list', meaning: 'how all of them fare' },
    { line: 'rota sensor history new_files', meaning: 'what its polls came to, and why' },
    { line: 'rota sensor preview new_files', meaning: 'what a poll would find now' },
    { line: 'rota sensor reset new_files --keep-keys', meaning: 'begin anew, trigger only what is new' },
    { line: 'rota sensor pause new_files --note "bucket moves"', meaning: 'and say why' },
  ],
  run: async (context) => {
    const action = actionOf(context)
    if (action === 'preview') return await withOwnApp(context, (app) => preview(context, app))
    return await withApp(context, (app) => act(context, action, app))
  },
}

const hint = '`rota sensor --help` shows examples'

const owners: OptionOwners<Action> = {
  state: ['preview', 'reset'],
  'keep-keys': ['reset'],
  'forget-keys': ['reset'],
  limit: ['history', 'preview'],
  note: ['pause'],
  until: ['pause'],
  by: ['pause'],
}

function actionOf(context: Context): Action {
  const { args } = context
  const action = chosenWord(args.word(0), { command: 'sensor', known: actions })
  refuseStray(context, action, { command: 'sensor', owners })
  const isNamed = args.optionalWord(1) !== undefined
  if ((action === 'list') === isNamed) {
    throw usageError([{ path: '<sensor>', message: isNamed ? 'list takes none' : 'it is missing' }], hint)
  }
  if (action === 'reset' && args.flag('keep-keys') === args.flag('forget-keys')) {
    const message = 'a reset says what becomes of what was seen'
    throw usageError([{ path: '--keep-keys', message, allowed: '--keep-keys or --forget-keys' }], hint)
  }
  return action
}

async function act(context: Context, action: Exclude<Action, 'preview'>, app: Rota): Promise<number> {
  const { args, out } = context
  const name = args.word(1)
  const isJson = args.flag('json')
  const views = await import('./views.js')
  switch (action) {
    case 'list': {
      const sensors = await app.sensors.list()
      if (isJson) out.json(sensors.map(views.sensorView))
      else views.printSensors(context, sensors)
      return exitCodes.ok
    }
    case 'show': {
      const sensor = await views.oneSensor(app, name)
      if (isJson) out.json({ ...views.sensorView(sensor), state: sensor.record.state })
      else views.printSensor(context, sensor)
      return exitCodes.ok
    }
    case 'history': {
      const history = (await app.sensors.history(name)).slice(0, args.whole('limit') ?? 20)
      if (isJson) out.json(history.map(views.evaluationView))
      else views.printHistory(context, history)
      return exitCodes.ok
    }
    case 'reset':
      return await reset(context, app)
    case 'pause':
    case 'resume':
      return await hold(context, app, action)
  }
}

async function reset({ args, out }: Context, app: Rota): Promise<number> {
  const name = args.word(1)
  const { forgotten } = await app.sensors.reset(name, {
    keys: args.flag('forget-keys'),
    state: stateOf(args.text('state')),
  })
  if (args.flag('json')) out.json({ sensor: name, forgotten })
  else {
    const keys = args.flag('forget-keys') ? `; ${count(forgotten, 'key')} forgotten` : ''
    out.say(`sensor ${name} begins anew${keys}`)
  }
  return exitCodes.ok
}

async function hold(context: Context, app: Rota, action: 'pause' | 'resume'): Promise<number> {
  const { args, out } = context
  const name = args.word(1)
  await (await import('./views.js')).oneSensor(app, name)
  const changed =
    action === 'pause' ? await app.triggers.pause(name, readHold(context)) : await app.triggers.resume(name)
  const done = action === 'pause' ? 'is paused' : 'goes on'
  const already = action === 'pause' ? 'was paused already' : 'was not paused'
  if (args.flag('json')) out.json({ target: `trigger:${name}`, changed })
  else out.say(`sensor ${name} ${changed ? done : already}`)
  return exitCodes.ok
}

async function preview(context: Context, app: Rota): Promise<number> {
  const { args, out } = context
  const found = await app.sensors.preview(args.word(1), { state: stateOf(args.text('state')) })
  const { previewView, printPreview } = await import('./views.js')
  if (args.flag('json')) out.json(previewView(found))
  else printPreview(context, found, args.whole('limit') ?? 20)
  return found.kind === 'error' ? exitCodes.failed : exitCodes.ok
}

/** The app of the config: only it has the code that looks. */
async function withOwnApp(context: Context, use: (app: Rota) => Promise<number>): Promise<number> {
  const { directory } = context
  const config = configOf(context)
  if (config === undefined) throw noConfig(context, '; --config names another')
  const { loadApp } = await import('../../app/definitions/load-app.js')
  const store = storeOf(context)
  const app = await loadApp(config, { store, directory, create: false })
  try {
    return await use(app)
  } finally {
    await app.close()
  }
}

function stateOf(text: string | undefined): never | undefined {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as never
  } catch (error) {
    throw usageError([{ path: '--state', message: `not JSON: ${(error as Error).message}` }], hint)
  }
}
