import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { Sensors } from './api.js'
import { feature } from './feature.js'

export type { ConfigSensor } from './config.js'
export type { DedupeOptions, SensorInput, SensorOptions } from './definition.js'
export type { Delivered } from './delivery/deliver.js'
export type { AppSensorOptions } from './api.js'
export type { SensorModule } from './isolated.js'
export type { Evaluation, SensorRecord } from './record.js'
export type { ConfiguredSensor, InitResult, Observation, PollContext, PollResult, Sensor } from './sensor.js'
export type { SensorInfo, SensorPreview, SensorReset } from './status.js'
export type { WebhookAddress } from './delivery/webhooks.js'

/** The feature `sensors`. */
export const sensors = {
  ...feature,
  api: (context: AppContext) => new Sensors(context),
} as const satisfies AppFeature
