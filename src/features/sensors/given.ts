import type { Json } from '../../kernel/definition/json.js'
import type { AppSensorOptions } from './api.js'
import { isolatedSensor, type SensorHost, type SensorModule } from './isolated.js'
import type { ConfiguredSensor, Sensor } from './sensor.js'

/** The sensor that code gives: a built-in one with its settings, one of the user, or a module that exports one. */
export function givenSensor<C, S extends Json>(
  { sensor, config, isolate }: Pick<AppSensorOptions<C, S>, 'sensor' | 'config' | 'isolate'>,
  host: SensorHost,
): ConfiguredSensor {
  if (isConfigured(sensor)) return sensor
  if (!isModule(sensor)) return { type: 'custom', sensor, config }
  const isolation = { kind: isolate ?? 'thread', memoryMb: 512 } as const
  return isolatedSensor({ ...sensor, config, isolate: isolation }, host)
}

function isConfigured<C, S extends Json>(
  sensor: AppSensorOptions<C, S>['sensor'],
): sensor is ConfiguredSensor<C, S> {
  return 'sensor' in sensor
}

function isModule<C, S extends Json>(sensor: Sensor<C, S> | SensorModule): sensor is SensorModule {
  return 'module' in sensor && typeof sensor.module === 'string'
}
