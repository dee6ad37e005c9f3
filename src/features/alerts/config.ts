import { within, type Place } from '../../kernel/definition/faults.js'
import { readEach, readOptions, type Written } from '../../kernel/definition/read-value.js'
import type { FeatureDefinitions } from '../feature-config.js'
import { addChannel } from './channel-job.js'
import { readChannel, readRule, type ChannelInput, type RuleInput } from './definition.js'
import { ownAlerts } from './own.js'

/** What a config may say about alerts. */
export interface AlertsConfig {
  /** Where problems are reported. */
  readonly alerts?:
    | {
        /** Where messages are sent, by name. */
        readonly channels?: Readonly<Record<string, ChannelInput>> | undefined
        /** Which problems are reported to which channels, by name. */
        readonly rules?: Readonly<Record<string, RuleInput>> | undefined
      }
    | undefined
}

/** Reads the alerts of a config. */
export function readSection({ alerts }: Written, whole: Place): FeatureDefinitions {
  const place = within(whole, 'alerts')
  const written = alerts === undefined ? {} : (readOptions(alerts, ['channels', 'rules'], place) ?? {})
  const channels = readEach(written['channels'], readChannel, within(place, 'channels'))
  const rules = readEach(written['rules'], readRule, within(place, 'rules'))
  return {
    define: ({ definitions, clock, directory }) => {
      const own = definitions.part(ownAlerts)
      for (const [name, channel] of channels) addChannel({ name, channel }, { definitions, clock, directory })
      for (const rule of rules) own.rules.set(rule.name, rule)
    },
  }
}
