import type { Dated } from '../../time/dated.js'
import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { Sensors } from './api.js'
import { feature } from './feature.js'
import type * as record from './record.js'
import type * as status from './status.js'

export type { ConfigSensor } from './config.js'
export type { DedupeOptions, SensorInput, SensorOptions } from './definition.js'
export type { SensorNotice } from './events.js'
export type { Delivered } from './delivery/deliver.js'
export type { AppSensorOptions, WebhookAddress } from './api.js'
export type { SensorModule } from './isolated.js'
export type { ConfiguredSensor, InitResult, Observation, PollContext, PollResult, Sensor } from './sensor.js'
export type { SensorPreview, SensorReset } from './status.js'

/** A sensor and its state. */
export type SensorInfo = Dated<status.SensorInfo>

/** The stored record of a sensor. */
export type SensorRecord = Dated<record.SensorRecord>

/** The result of one poll or delivery; equal consecutive ones are stored as one. */
export type Evaluation = Dated<record.Evaluation>

/** The feature `sensors`. */
export const sensors = {
  ...feature,
  api: (context: AppContext) => new Sensors(context),
} as const satisfies AppFeature
