import type { Dated } from '../../time/dated.js'
import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { Alerts } from './api.js'
import { feature } from './feature.js'
import type * as status from './status.js'

export type { AlertTest } from './api.js'
export type { ChannelInput, EmailInput, RuleInput } from './definition.js'
export type { AlertItem, AlertMessage } from './message.js'

/** The state of alerts: rules, channels, and what waits or is quiet. */
export type AlertStatus = Dated<status.AlertStatus>

/** The feature `alerts`. */
export const alerts = {
  ...feature,
  api: (context: AppContext) => new Alerts(context),
} as const satisfies AppFeature
