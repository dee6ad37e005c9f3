import { fault, shown, within, type Place } from '../../kernel/definition/faults.js'
import {
  isMap,
  readChoice,
  readEach,
  readOptions,
  type Entry,
  type Written,
} from '../../kernel/definition/read-value.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { DefinitionDefaults } from '../../kernel/definition/definitions.js'
import type { ConfiguredApp, FeatureDefinitions } from '../feature-config.js'
import type { AppSensorOptions } from './api.js'
import {
  codeOptionNames,
  readSensorDefinition,
  sensorOptionNames,
  sensorOrigin,
  type SensorDefinition,
  type SensorOptions,
} from './definition.js'
import { ownSensors, type ConfiguredSensor } from './sensor.js'

/** The built-in types of sensors. */
export const sensorTypes = ['s3', 'files', 'sql', 'sql-rows', 'http', 'webhook'] as const

/** What a config may say about sensors. */
export interface SensorsConfig {
  /** What to poll for new things, which trigger runs, by name. */
  readonly sensors?: Readonly<Record<string, ConfigSensor>> | undefined
}

/** A sensor of a config: one that code made, or one of a built-in type with its settings. */
export type ConfigSensor = AppSensorOptions<never, never> | ConfigSensorInput

/** A sensor as a config writes it: its type with the settings of that type, how it is polled, and what it triggers. */
export interface ConfigSensorInput extends SensorOptions {
  /** A built-in type; its settings are at the same level. */
  readonly type?: (typeof sensorTypes)[number] | undefined
  /** The name of the job; every observation becomes a run of it. */
  readonly job?: string | undefined
  readonly [setting: string]: unknown
}

/** Reads the sensors of a config; the settings of a built-in type are read when its module is loaded. */
export function readSection(
  { sensors }: Written,
  place: Place,
  { timezone, calendars }: DefinitionDefaults = {},
): FeatureDefinitions {
  const read = readEach(
    sensors,
    ({ name, input }, at) => readSensorEntry({ name, input: withZone(input, timezone), calendars }, at),
    within(place, 'sensors'),
  )
  return {
    jobs: read.flatMap(({ job }) => (job === undefined ? [] : [{ ...job, section: 'sensors' }])),
    triggers: read.map(({ trigger }) => ({ trigger, origin: sensorOrigin })),
    define: async (app, whole) => {
      for (const { trigger, input } of read) {
        const at = within(within(whole, 'sensors'), trigger.name)
        const configured = await notingFaults(at, () => configuredOf(input, app))
        if (configured !== undefined) app.definitions.part(ownSensors).set(trigger.name, configured)
      }
    },
  }
}

function withZone(input: unknown, timezone: string | undefined): unknown {
  return isMap(input) && timezone !== undefined ? { timezone, ...input } : input
}

interface ReadSensor extends SensorDefinition {
  readonly input: Written
}

function readSensorEntry(
  { name, input, calendars }: Entry & Pick<DefinitionDefaults, 'calendars'>,
  place: Place,
): ReadSensor | undefined {
  if (!isMap(input)) return fault(place, `a map of options was expected, not ${shown(input)}`)
  const { type } = input
  if (input['sensor'] === undefined) readType(type, within(place, 'type'))
  else readOptions(input, [...sensorOptionNames, ...codeOptionNames], place)
  const definition = readSensorDefinition({ name, type, input, calendars }, place)
  return definition === undefined ? undefined : { ...definition, input }
}

function readType(value: unknown, place: Place): void {
  if (value === undefined) return fault(place, 'the type is missing', sensorTypes.join(', '))
  readChoice(value, sensorTypes, place)
}

/** The probe; built-in types and threads are loaded only now. */
async function configuredOf(input: Written, app: ConfiguredApp): Promise<ConfiguredSensor> {
  const { clock, directory, storeUrl, handlerExtensions } = app
  const around = { clock, directory, handlerExtensions, environment: process.env }
  const { builtInSensor, givenSensor, onOwnDatabase } = await import('./types.js')
  const type = String(input['type'])
  const configured =
    input['sensor'] === undefined
      ? await builtInSensor(type, settingsOf(input), around)
      : givenSensor(input as unknown as AppSensorOptions<unknown, never>, around)
  return onOwnDatabase(configured, storeUrl)
}

/** The options of a sensor that are settings of its type. */
function settingsOf(input: Written): Written {
  const others: readonly string[] = ['type', ...sensorOptionNames, ...codeOptionNames]
  return Object.fromEntries(Object.entries(input).filter(([key]) => !others.includes(key)))
}

/** The result of a reader; faults that it throws are added to their places instead. */
async function notingFaults<Read>(place: Place, read: () => Promise<Read>): Promise<Read | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof RotaError)) throw error
    const faults = error.faults.length > 0 ? error.faults : [{ path: '', message: error.message }]
    for (const { path, message, allowed } of faults) {
      const keys = path === '' || path === '(whole)' ? [] : path.split('.')
      fault(keys.reduce(within, place), message, allowed)
    }
    return undefined
  }
}
