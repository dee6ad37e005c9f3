import { resolve } from 'node:path'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { placeOf, within } from '../../kernel/definition/faults.js'
import type { Json } from '../../kernel/definition/json.js'
import { isMap, type Written } from '../../kernel/definition/read-value.js'
import { readSecretRef, type SecretRef, type SecretText } from '../../kernel/definition/secret-text.js'
import { isolatedSensor, type SensorHost, type SensorModule } from './isolated.js'
import type { ConfiguredSensor, Sensor } from './sensor.js'
import { resolveSecret, resolveTexts, type SecretPlaces } from '../../outbound/secrets.js'
import { absoluteUrl } from '../../formats/store-url.js'

/** What the settings of a config file are relative to. */
export interface SensorSurroundings extends SecretPlaces {
  readonly directory: string
}

interface BuiltIn {
  readonly load: () => Promise<(settings: never) => ConfiguredSensor>
  /** Converts the settings of a config file to those of code. */
  readonly prepare?: (settings: Written, around: SensorSurroundings) => Written | Promise<Written>
}

const builtIn: Readonly<Record<string, BuiltIn>> = {
  s3: { load: async () => (await import('./kinds/s3/sensor.js')).s3Sensor },
  files: { load: async () => (await import('./kinds/files/sensor.js')).filesSensor, prepare: inDirectory },
  sql: { load: async () => (await import('./kinds/sql/change.js')).sqlChangeSensor, prepare: onFile },
  'sql-rows': { load: async () => (await import('./kinds/sql/rows.js')).sqlRowsSensor, prepare: onFile },
  http: { load: async () => (await import('./kinds/http/sensor.js')).httpSensor, prepare: withHeaders },
  webhook: {
    load: async () => (await import('./kinds/webhook/sensor.js')).webhookSensor,
    prepare: withSecret,
  },
}

/** The built-in sensor of a type with the settings of a config file; its module is loaded only then. */
export async function builtInSensor(
  type: string,
  settings: Written,
  around: SensorSurroundings,
): Promise<ConfiguredSensor> {
  const kind = Object.hasOwn(builtIn, type) ? builtIn[type] : undefined
  if (kind === undefined) throw new RotaError('DEFINITION_INVALID', `${type} is not a type of sensor`)
  const make = await kind.load()
  const prepared = kind.prepare === undefined ? settings : await kind.prepare(settings, around)
  return { ...make(prepared as never), type }
}

/** A sensor as code gives it. */
export interface GivenSensor<C, S extends Json> {
  /** One of the built-in sensors with its settings, one of your own, or the module that exports one. */
  readonly sensor: ConfiguredSensor<C, S> | Sensor<C, S> | SensorModule
  /** The config of your own sensor. */
  readonly config?: C | undefined
  /** In what each poll of a module's sensor runs, so that a poll that blocks affects no other; default: a thread. */
  readonly isolate?: 'thread' | 'process' | undefined
}

/** The sensor that code gives: a built-in one with its settings, one of the user, or a module that exports one. */
export function givenSensor<C, S extends Json>(
  { sensor, config, isolate }: GivenSensor<C, S>,
  host: SensorHost,
): ConfiguredSensor {
  if ('sensor' in sensor) return sensor
  if (!('module' in sensor) || typeof sensor.module !== 'string')
    return { type: 'custom', sensor: sensor as Sensor<C, S>, config }
  const isolation = { kind: isolate ?? 'thread', memoryMb: 512 } as const
  return isolatedSensor({ ...sensor, config, isolate: isolation }, host)
}

/** An SQL sensor without a database uses that of the store. */
export function onOwnDatabase(configured: ConfiguredSensor, storeUrl: string): ConfiguredSensor {
  const { type, config } = configured
  const isOpen = (type === 'sql' || type === 'sql-rows') && isMap(config) && config['url'] === undefined
  if (!isOpen || !/^(?:sqlite|postgres|postgresql):/.test(storeUrl)) return configured
  return { ...configured, config: { ...config, url: storeUrl } }
}

function inDirectory(settings: Written, { directory }: SensorSurroundings): Written {
  const given = settings['directory'] ?? '.'
  return { ...settings, directory: typeof given === 'string' ? resolve(directory, given) : given }
}

/** The path of a database is relative to the config file, like that of the store. */
function onFile(settings: Written, { directory }: SensorSurroundings): Written {
  const { url } = settings
  return typeof url === 'string' && url.startsWith('sqlite:')
    ? { ...settings, url: absoluteUrl(url, directory) }
    : settings
}

/** A secret can be a reference to a variable or a file; it can be a list. */
async function withSecret(settings: Written, around: SensorSurroundings): Promise<Written> {
  const { secret } = settings
  if (!isMap(secret)) return settings
  const found = await resolveSecret(refAt(secret, ['secret']), around)
  return { ...settings, secret: found.split(/[\s,]+/).filter((one) => one !== '') }
}

/** The values of headers can be references, too. */
async function withHeaders(settings: Written, around: SensorSurroundings): Promise<Written> {
  const { headers } = settings
  if (!isMap(headers) || !Object.values(headers).some(isMap)) return settings
  const refs = Object.entries(headers).filter(([, text]) => isMap(text))
  for (const [name, ref] of refs) refAt(ref as Written, ['headers', name])
  const { texts } = await resolveTexts(Object.fromEntries(refs) as Record<string, SecretText>, around)
  return { ...settings, headers: { ...headers, ...texts } }
}

function refAt(value: Written, keys: readonly string[]): SecretRef {
  const place = keys.reduce(within, placeOf())
  const ref = readSecretRef(value, place)
  refuse('the sensor', place.faults)
  return ref as SecretRef
}
