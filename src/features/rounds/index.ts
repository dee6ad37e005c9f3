import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { Rounds } from './api.js'
import { feature } from './feature.js'

export type { RoundOptions, ServiceOptions } from './api.js'
export type { RoundInput, ServiceInput } from './definition.js'
export type { RoundState, RoundStatus, ServiceTimes } from './status.js'

/** The feature `rounds`. */
export const rounds = {
  ...feature,
  api: (context: AppContext) => new Rounds(context),
} as const satisfies AppFeature
