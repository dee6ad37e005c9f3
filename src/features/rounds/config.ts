import { namesIn } from '../../formats/config/config.js'
import type { DefinitionDefaults } from '../../kernel/definition/definitions.js'
import { within, type Place } from '../../kernel/definition/faults.js'
import { isMap, readEach, type Written } from '../../kernel/definition/read-value.js'
import type { FeatureDefinitions } from '../feature-config.js'
import { checkServices, noteUnknownServices, readRound, roundOrigin, type RoundInput } from './definition.js'

/** What a config may say about rounds. */
export interface RoundsConfig {
  /** Services that are checked at an interval and performed in order, by the name of their round. */
  readonly rounds?: Readonly<Record<string, RoundInput>> | undefined
}

/** Reads the rounds of a config. */
export function readSection(input: Written, whole: Place, defaults?: DefinitionDefaults): FeatureDefinitions {
  const { rounds } = input
  const place = within(whole, 'rounds')
  const triggers = readEach(rounds, (entry, at) => readRound({ ...entry, defaults }, at), place)
  return {
    triggers: triggers.map((trigger) => ({ trigger, origin: roundOrigin })),
    checks: [checkServices],
    noteUnknown: (jobs) => {
      for (const name of namesIn(rounds)) {
        const round = isMap(rounds) ? rounds[name] : undefined
        const at = within(within(place, name), 'services')
        if (isMap(round)) noteUnknownServices(round['services'], new Set(jobs), at)
      }
    },
  }
}
