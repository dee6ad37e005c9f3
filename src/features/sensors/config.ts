import { readSensor, sensorOptionNames, type SensorOptions } from './definition.js'
import { fault, shown, within, type Place } from '../../kernel/definition/faults.js'
import { isMap, readChoice, readOptions, type Written } from '../../kernel/definition/read-value.js'

/** The built-in types of sensors. */
export const sensorTypes = ['s3', 'files', 'sql', 'sql-rows', 'http', 'webhook'] as const

/** A sensor as a config writes it: its type with the settings of that type, how it is polled, and what it triggers. */
export interface ConfigSensorInput extends SensorOptions {
  /** A built-in type; its own settings stand beside it. */
  readonly type?: (typeof sensorTypes)[number] | undefined
  /** The name of the job of which every observation becomes a run. */
  readonly job?: string | undefined
  readonly [setting: string]: unknown
}

/** What only code can write: a sensor as an object, and what to do as a function. */
const codeOptionNames = ['sensor', 'config', 'isolate', 'onTrigger', 'runs']

/** Checks how a sensor of a config is polled; the settings of its type are checked by the type. */
export function readConfigSensor(
  written: { readonly name: unknown; readonly input: unknown },
  place: Place,
): void {
  const { name, input } = written
  if (!isMap(input)) return fault(place, `a map of options was expected, not ${shown(input)}`)
  const isCode = input['sensor'] !== undefined
  if (isCode) readOptions(input, [...sensorOptionNames, ...codeOptionNames], place)
  else readType(input, place)
  const job = input['onTrigger'] === undefined ? input['job'] : name
  const type = typeof input['type'] === 'string' ? input['type'] : 'custom'
  readSensor({ name, type, input: { ...pollingOf(input), ...(job === undefined ? {} : { job }) } }, place)
}

/** The options of a sensor that say how it is polled and what it triggers. */
export function pollingOf(input: Written): Written {
  return Object.fromEntries(Object.entries(input).filter(([key]) => isPolling(key)))
}

/** The options of a sensor that are settings of its type. */
export function settingsOf(input: Written): Written {
  const isSetting = (key: string): boolean =>
    key !== 'type' && key !== 'onTrigger' && key !== 'runs' && !isPolling(key)
  return Object.fromEntries(Object.entries(input).filter(([key]) => isSetting(key)))
}

function isPolling(key: string): boolean {
  return (sensorOptionNames as readonly string[]).includes(key)
}

function readType(input: Written, place: Place): void {
  const at = within(place, 'type')
  if (input['type'] === undefined) return fault(at, 'nothing says what looks', sensorTypes.join(', '))
  readChoice(input['type'], sensorTypes, at)
}
