import type { AppContext } from '../app-context.js'
import { featureConfig } from '../feature-config.js'
import type { Feature } from '../feature.js'
import { Sensors } from './api.js'
import type { SensorsConfig } from './config.js'
import { ownSensors } from './sensor.js'

export type { ConfigSensor } from './config.js'
export type { DedupeOptions, SensorInput, SensorOptions } from './definition.js'
export type { Delivered } from './delivery/deliver.js'
export type { AppSensorOptions } from './given.js'
export type { SensorModule } from './isolated.js'
export type { Evaluation, SensorRecord } from './record.js'
export type { ConfiguredSensor, InitResult, Observation, PollContext, PollResult, Sensor } from './sensor.js'
export type { SensorInfo, SensorPreview, SensorReset } from './status.js'
export type { WebhookAddress } from './delivery/webhooks.js'

/** The feature `sensors`. */
export const sensors = {
  name: 'sensors',
  api: (context: AppContext) => new Sensors(context),
  kinds: async () => [(await import('./kind.js')).sensorKind],
  checks: async () => [(await import('./findings.js')).sensorsBehind],
  loops: async (definitions) => {
    const own = definitions.part(ownSensors)
    return own.size === 0 ? [] : [(await import('./polling/run.js')).sensorLoop(own)]
  },
  notices: async () => (await import('./notice.js')).sensorNotices,
  up: async () => (await import('./up.js')).webhooksOption,
  commands: {
    sensor: {
      summary: 'inspect, reset and pause sensors',
      group: 'features',
      load: async () => (await import('./commands.js')).sensor,
    },
  },
  config: featureConfig<SensorsConfig>(['sensors'], () => import('./config.js')),
} as const satisfies Feature
