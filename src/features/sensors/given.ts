import type { Json } from '../../kernel/definition/json.js'
import type { RunContext } from '../../engine/worker/perform.js'
import type { JobOptions } from '../../kernel/job/define-job.js'
import type { AnyJob } from '../../kernel/job/job-ref.js'
import type { SensorOptions } from './definition.js'
import { isolatedSensor, type SensorHost, type SensorModule } from './isolated.js'
import type { ConfiguredSensor, Sensor } from './sensor.js'

/** A sensor as code writes it: what looks, how it is polled, and what becomes of what it finds. */
export interface AppSensorOptions<C, S extends Json> extends SensorOptions {
  /** One of the built-in sensors with its settings, one of your own, or the module that exports one. */
  readonly sensor: ConfiguredSensor<C, S> | Sensor<C, S> | SensorModule
  /** What a sensor of your own is given. */
  readonly config?: C | undefined
  /** What each poll of a module's sensor runs in, so that a poll that blocks harms no other; default: a thread. */
  readonly isolate?: 'thread' | 'process' | undefined
  /** The job of which every observation becomes a run; or `onTrigger`. */
  readonly job?: AnyJob | undefined
  /** A function that is called with the partition of every observation, as a run of a job that has the sensor's name; or `job`. */
  readonly onTrigger?: ((partition: string, run: RunContext) => unknown) | undefined
  /** How the runs of `onTrigger` are queued, retried and limited; default: three attempts. */
  readonly runs?: JobOptions | undefined
}

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
