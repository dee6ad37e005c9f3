import type { Dated } from '../../time/dated.js'
import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { Rounds } from './api.js'
import { feature } from './feature.js'
import type * as status from './status.js'

export type { RoundOptions, ServiceOptions } from './api.js'
export type { RoundInput, ServiceInput } from './definition.js'
export type { ServiceTimes } from './status.js'

/** The status of a round: its open cycle, or else the result of its last check. */
export type RoundStatus = Dated<status.RoundStatus>

/** The saved state of a round with an open cycle. */
export type RoundState = Dated<status.RoundState>

/** The feature `rounds`. */
export const rounds = {
  ...feature,
  api: (context: AppContext) => new Rounds(context),
} as const satisfies AppFeature
