import type { AppContext } from '../app-context.js'
import { featureConfig } from '../feature-config.js'
import type { Feature } from '../feature.js'
import { Rounds } from './api.js'
import type { RoundsConfig } from './config.js'

export type { RoundOptions, ServiceOptions } from './api.js'
export type { RoundInput, ServiceInput } from './definition.js'
export type { RoundState, RoundStatus, ServiceTimes } from './status.js'

/** The feature `rounds`. */
export const rounds = {
  name: 'rounds',
  api: (context: AppContext) => new Rounds(context),
  config: featureConfig<RoundsConfig>(['rounds'], () => import('./config.js')),
  kinds: async () => [(await import('./kind.js')).roundKind],
  endEffects: async () => [(await import('./end-effect.js')).serviceEffect],
  notices: async () => (await import('./notice.js')).roundNotices,
  commands: {
    round: {
      summary: 'start, stop and inspect rounds',
      group: 'features',
      load: async () => (await import('./commands.js')).round,
    },
  },
} as const satisfies Feature
