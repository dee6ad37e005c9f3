import { fault, shown, within, type Place } from '../definition/faults.js'

/** The channels for one job or trigger, instead of the general rules; false: none. */
export type AlertsOption = readonly string[] | false

/** Reads the option `alerts` of a job or trigger. */
export function readAlerts(value: unknown, place: Place): AlertsOption | undefined {
  return value === undefined || value === false ? value : readChannels(value, place)
}

/** Reads a list of names of channels. */
export function readChannels(value: unknown, place: Place): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > 50)
    return fault(place, `${shown(value)} is not a list of channels`, 'a list of 1 to 50 names of channels')
  for (const [index, one] of value.entries()) {
    if (!isChannelName(one)) fault(within(place, index), `${shown(one)} is not the name of a channel`)
  }
  return [...new Set(value as string[])]
}

/** Whether a value can be the name of a channel. */
export function isChannelName(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value)
}
