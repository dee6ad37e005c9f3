import { readTrigger, type ScheduleOptions } from '../../kernel/trigger/define-trigger.js'
import type { AssetInput } from './definition.js'
import { fault, shown, within, type Place } from '../../kernel/definition/faults.js'
import { isMap, didYouMean } from '../../kernel/definition/read-value.js'

/** When an asset is due, as a config file says it under the name of the schedule. */
export interface ConfigScheduleInput extends ScheduleOptions {
  /** The asset; default: the asset with the name of the schedule. */
  readonly asset?: string | undefined
}

/** Checks a schedule by the rules of triggers, and notes each fault at its place. */
export function readConfigSchedule(
  written: { readonly name: unknown; readonly input: unknown },
  place: Place,
): unknown {
  const { name, input } = written
  if (!isMap(input)) return fault(place, `a map of options was expected, not ${shown(input)}`)
  const { asset, ...schedule } = input
  if (schedule['job'] !== undefined) fault(within(place, 'job'), 'a schedule is that of an asset', 'asset')
  return readTrigger({ name, input: { ...schedule, job: asset ?? name } }, place)
}

/** Notes schedules of assets that the file does not have. */
export function noteUnknownAssets(
  {
    assets,
    schedules,
  }: {
    readonly assets: Readonly<Record<string, AssetInput>>
    readonly schedules: Readonly<Record<string, ConfigScheduleInput>>
  },
  place: Place,
): void {
  const known = Object.keys(assets)
  for (const [name, schedule] of Object.entries(schedules)) {
    const asset: unknown = isMap(schedule) ? (schedule['asset'] ?? name) : name
    if (typeof asset !== 'string' || known.includes(asset)) continue
    const message = `no asset of this file is named ${asset}${didYouMean(asset, known)}`
    fault(within(within(place, name), 'asset'), message, known.join(', '))
  }
}
