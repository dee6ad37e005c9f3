import type { KnownDefinitions } from '../../kernel/definition/definitions.js'
import { fault, within, type Place } from '../../kernel/definition/faults.js'
import { didYouMean } from '../../kernel/definition/read-value.js'
import type { AlertRule, Channel } from './definition.js'

/** What an app defines about alerts. */
export interface OwnAlerts {
  readonly channels: Map<string, Channel>
  readonly rules: Map<string, AlertRule>
}

/** Where an app keeps its alerts. */
export function ownAlerts(): OwnAlerts {
  return { channels: new Map(), rules: new Map() }
}

/** Reports channels that are named but not defined. */
export function checkChannels(own: OwnAlerts): (known: KnownDefinitions, place: Place) => void {
  return ({ own: jobs, triggers }, place) => {
    const known = [...own.channels.keys()]
    const check = (names: readonly string[] | false | undefined, at: Place): void => {
      for (const [index, name] of (names === false ? [] : (names ?? [])).entries()) {
        if (own.channels.has(name)) continue
        const allowed = known.length === 0 ? 'none is defined under alerts.channels' : known.join(', ')
        fault(within(at, index), `no channel is named ${name}${didYouMean(name, known)}`, allowed)
      }
    }
    for (const { name, channels } of own.rules.values())
      check(channels, ['alerts', 'rules', name, 'channels'].reduce(within, place))
    for (const job of jobs.values()) check(job.alerts, ['jobs', job.name, 'alerts'].reduce(within, place))
    for (const { trigger, place: at } of triggers) check(trigger.alerts, within(at, 'alerts'))
  }
}
