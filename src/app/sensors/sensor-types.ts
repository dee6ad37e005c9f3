import { resolve } from 'node:path'
import { RotaError } from '../../model/errors.js'
import { isMap, type Written } from '../../model/read-value.js'
import type { ConfiguredSensor } from '../../model/sensor.js'
import { absoluteUrl } from '../open-store.js'

/** What the settings of a config file are relative to. */
export interface SensorSurroundings {
  readonly directory: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** The built-in sensor of a type with the settings of a config file; its module is loaded only then. */
export async function builtInSensor(
  type: string,
  settings: Written,
  around: SensorSurroundings,
): Promise<ConfiguredSensor> {
  const options = settings as never
  switch (type) {
    case 's3':
      return (await import('../../sensors/s3-sensor.js')).s3Sensor(options)
    case 'files':
      return (await import('../../sensors/files-sensor.js')).filesSensor(
        inDirectory(settings, around) as never,
      )
    case 'sql':
      return (await import('../../sensors/sql-change.js')).sqlChangeSensor(onFile(settings, around) as never)
    case 'sql-rows':
      return {
        ...(await import('../../sensors/sql-rows.js')).sqlRowsSensor(onFile(settings, around) as never),
        type,
      }
    case 'http':
      return (await import('../../sensors/http.js')).httpSensor(options)
    case 'webhook':
      return (await import('../../sensors/webhook.js')).webhookSensor(withSecret(settings, around) as never)
    default:
      throw new RotaError('DEFINITION_INVALID', `${type} is not a type of sensor`)
  }
}

/** An SQL sensor that names no database asks that of the store. */
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

/** The path of a database is relative to the config file, as that of the store is. */
function onFile(settings: Written, { directory }: SensorSurroundings): Written {
  const { url } = settings
  return typeof url === 'string' && url.startsWith('sqlite:')
    ? { ...settings, url: absoluteUrl(url, directory) }
    : settings
}

/** A secret need not stand in the file: `secret: { env: NAME }` takes it from the environment. */
function withSecret(settings: Written, { environment }: SensorSurroundings): Written {
  const { secret } = settings
  if (!isMap(secret) || typeof secret['env'] !== 'string') return settings
  const found = environment[secret['env']]
  if (found === undefined) {
    throw new RotaError('CONFIG_INVALID', `secret: the environment has no variable ${secret['env']}`)
  }
  return { ...settings, secret: found.split(/[\s,]+/).filter((one) => one !== '') }
}
