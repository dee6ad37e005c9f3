import { RotaError } from '../../kernel/definition/errors.js'
import type { Key } from '../../kernel/definition/faults.js'
import type { ConfiguredSensor } from './sensor.js'
import { pollingOf, settingsOf, type ConfigSensorInput } from './config.js'
import { MAX_CONFIG_BYTES, plain, refuseFile, type TextFileFault } from '../../formats/text-file.js'
import type { Rota } from '../../app/rota.js'
import type { AppSensorOptions } from './api.js'
import { builtInSensor } from './types.js'

/** Defines the sensors of a config file; throws one error with the faults of all their settings. */
export async function defineConfigSensors(
  app: Rota,
  loaded: {
    readonly path: string
    readonly directory: string
    readonly where: (keys: readonly Key[]) => string
    readonly sensors: Readonly<Record<string, ConfigSensorInput>>
  },
): Promise<void> {
  const { path, directory, where, sensors } = loaded
  const around = { directory, environment: process.env }
  const faults: TextFileFault[] = []
  for (const [name, input] of Object.entries(sensors)) {
    try {
      app.sensor(name, await optionsOf(input, around))
    } catch (error) {
      faults.push(...faultsOf(error, { name, where }))
    }
  }
  refuseFile({ path, code: 'CONFIG_INVALID', maxBytes: MAX_CONFIG_BYTES }, faults)
}

async function optionsOf(
  input: ConfigSensorInput,
  around: Parameters<typeof builtInSensor>[2],
): Promise<AppSensorOptions<unknown, never>> {
  const { type, sensor, config, isolate, onTrigger, runs } = input
  const looks = sensor ?? (await builtInSensor(type ?? '', settingsOf(input), around))
  const options = { ...pollingOf(input), config, isolate, onTrigger, runs, sensor: looks as ConfiguredSensor }
  return options as unknown as AppSensorOptions<unknown, never>
}

function faultsOf(
  error: unknown,
  { name, where }: { name: string; where: (keys: readonly Key[]) => string },
): readonly TextFileFault[] {
  if (!(error instanceof RotaError)) throw error
  const found = error.faults.length > 0 ? error.faults : [{ path: '', message: error.message }]
  return found.map((fault) => {
    const keys = fault.path === '' || fault.path === '(whole)' ? [] : fault.path.split('.')
    const path = ['sensors', name, ...keys].join('.')
    return { ...plain(fault), path, where: where(['sensors', name, ...keys]) }
  })
}
