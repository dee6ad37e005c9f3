import type { Sensors } from './api.js'
import {
  type Command,
  exitCodes,
  onApp,
  changeOptions,
  storeOptions,
  zoneOption,
} from '../../cli/framework/command.js'
import type { Arguments } from '../../cli/framework/arguments.js'
import { type GivenHold, holdOptions, readHold } from '../../cli/framework/options/hold-options.js'
import { previewView, sensorView } from './json-views.js'
import { printList } from '../../cli/framework/print/table.js'
import { count } from '../../cli/framework/print/words.js'
import type { Argument, Option } from '../../cli/framework/syntax.js'
import { usageError } from '../../cli/framework/usage-error.js'
import { type SensorInfo, unknownSensor } from './status.js'
import { historyColumns, printPreview, printSensor, sensorColumns } from './views.js'

/** What these commands use of an app. */
export interface SensorsApp {
  readonly sensors: Sensors
  readonly triggers: {
    pause(name: string, hold: GivenHold): Promise<boolean>
    resume(name: string, options: { readonly dryRun: boolean }): Promise<boolean>
  }
}

const sensorName: Argument = { name: 'sensor', help: 'the sensor', completes: 'trigger' }

const stateOption: Option = { name: 'state', value: 'json', help: 'the state to begin with', isContent: true }

const limitOption: Option = {
  name: 'limit',
  value: 'n',
  help: 'how many lines; default: 20',
  whole: [1, 100_000],
}

const list: Command<SensorsApp> = {
  name: 'list',
  summary: 'list the sensors and their condition',
  options: [zoneOption, ...storeOptions],
  examples: { 'rota sensor list': 'all sensors' },
  run: onApp(async (app, { out }) => {
    printList(out, await app.sensors.list(), {
      empty: 'no sensors; a config defines them under sensors',
      columns: sensorColumns,
      json: sensorView,
    })
  }),
}

const show: Command<SensorsApp> = {
  name: 'show',
  summary: 'show a sensor in full, with its state',
  arguments: [sensorName],
  options: [zoneOption, ...storeOptions],
  examples: { 'rota sensor show new_files': 'its options, last polls and state' },
  run: onApp(async (app, { args, out }) => {
    const sensor = await oneSensor(app, args.word(0))
    const { state } = sensor.record
    out.show({ ...sensorView(sensor), state }, () => printSensor(out, sensor))
  }),
}

const history: Command<SensorsApp> = {
  name: 'history',
  summary: 'list the results of its polls',
  about:
    'Lists the results of the polls of a sensor, newest first, with reasons. Equal results in a row are one line.',
  arguments: [sensorName],
  options: [limitOption, zoneOption, ...storeOptions],
  examples: { 'rota sensor history new_files': 'what its polls found, and why' },
  run: onApp(async (app, { args, out }) => {
    const polls = (await app.sensors.history(args.word(0))).slice(0, args.whole('limit') ?? 20)
    printList(out, polls, { empty: 'it was not polled yet', columns: historyColumns })
  }),
}

const preview: Command<SensorsApp> = {
  name: 'preview',
  summary: 'poll once and change nothing',
  about:
    'Polls a sensor once, from its own state or from --state, and changes nothing. It needs the config that defines the sensor.',
  arguments: [sensorName],
  options: [stateOption, limitOption, ...storeOptions],
  examples: { 'rota sensor preview new_files': 'what a poll would find now' },
  run: ({ args, out, withConfigApp }) =>
    withConfigApp(async (app) => {
      const found = await app.sensors.preview(args.word(0), { state: stateOf(args, 'preview') })
      out.show(previewView(found), () => printPreview(out, found, args.whole('limit') ?? 20))
      return found.kind === 'error' ? exitCodes.failed : exitCodes.ok
    }),
}

const reset: Command<SensorsApp> = {
  name: 'reset',
  summary: 'start again, or from a given state',
  about:
    'Makes a sensor start again, or from --state. With --keep-keys only new keys trigger; with --forget-keys everything triggers again.',
  arguments: [sensorName],
  options: [
    stateOption,
    { name: 'keep-keys', help: 'keep the seen keys' },
    { name: 'forget-keys', help: 'forget the seen keys' },
    ...changeOptions,
  ],
  examples: {
    'rota sensor reset new_files --keep-keys': 'start again, trigger only new keys',
  },
  run: onApp(async (app, { args, out }) => {
    const forgets = args.flag('forget-keys')
    if (args.flag('keep-keys') === forgets) {
      const message = 'one of the two is required'
      throw usageError([{ path: '--keep-keys, --forget-keys', message }], hint('reset'))
    }
    const sensor = args.word(0)
    const { forgotten } = await app.sensors.reset(sensor, {
      keys: forgets,
      state: stateOf(args, 'reset'),
      dryRun: args.flag('dry-run'),
    })
    const keys = forgotten !== undefined && forgets ? `; ${count(forgotten, 'key')} forgotten` : ''
    out.show({ sensor, forgotten }, `reset sensor ${sensor}${keys}`)
  }),
}

const pause: Command<SensorsApp> = {
  name: 'pause',
  summary: 'pause a sensor',
  arguments: [sensorName],
  options: [...holdOptions, zoneOption, ...storeOptions],
  examples: { 'rota sensor pause new_files --reason "bucket moves"': 'with a reason' },
  run: onApp(async (app, context) => {
    const { name } = await oneSensor(app, context.args.word(0))
    const changed = await app.triggers.pause(name, readHold(context))
    const text = changed ? `paused sensor ${name}` : `sensor ${name} was already paused`
    context.out.show({ target: `trigger:${name}`, changed }, text)
  }),
}

const resume: Command<SensorsApp> = {
  name: 'resume',
  summary: 'resume a sensor',
  arguments: [sensorName],
  options: changeOptions,
  examples: { 'rota sensor resume new_files': 'poll it again' },
  run: onApp(async (app, { args, out }) => {
    const { name } = await oneSensor(app, args.word(0))
    const changed = await app.triggers.resume(name, { dryRun: args.flag('dry-run') })
    const text = changed ? `resumed sensor ${name}` : `sensor ${name} was not paused`
    out.show({ target: `trigger:${name}`, changed }, text)
  }),
}

/** `rota sensor`: inspects, resets and pauses sensors. */
export const sensor: Command<SensorsApp> = {
  name: 'sensor',
  about:
    'A sensor polls something outside, such as a directory, a bucket or a table, and triggers a job for each thing that is new.',
  examples: {
    'rota sensor list': 'all sensors and their condition',
    'rota sensor preview new_files': 'what a poll would find now',
  },
  subcommands: [list, show, history, preview, reset, pause, resume],
}

async function oneSensor(app: SensorsApp, name: string): Promise<SensorInfo> {
  const sensors = await app.sensors.list()
  const names = sensors.map((one) => one.name)
  const found = sensors[names.indexOf(name)]
  if (found === undefined) throw unknownSensor(name, names)
  return found
}

function stateOf(args: Arguments, subcommand: string): never | undefined {
  const text = args.text(stateOption.name)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as never
  } catch (error) {
    throw usageError(
      [{ path: '--state', message: `not JSON: ${(error as Error).message}` }],
      hint(subcommand),
    )
  }
}

function hint(subcommand: string): string {
  return `see \`rota sensor ${subcommand} --help\``
}
