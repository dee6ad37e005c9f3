import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { CalendarsApi } from './api.js'
import { feature } from './feature.js'

export type { CalendarInfo, ExcludedStretch } from './status.js'

/** The feature `calendars`. */
export const calendars = {
  ...feature,
  api: (context: AppContext) => new CalendarsApi(context),
} as const satisfies AppFeature
