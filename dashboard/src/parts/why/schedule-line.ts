import type { Trigger } from '../../../../src/client/operations.js'
import { formatDuration } from '../../data/format.js'
import { scheduleWords as words } from '../../words/common.js'

/** When a trigger is due, in one line: its expression and its zone, its interval, or what its kind says. */
export function scheduleLine({ schedule }: Trigger): string {
  const { kind, expression, timezone, everyMs, at } = schedule
  const every = typeof everyMs === 'number' ? words.every(formatDuration(everyMs)) : undefined
  if (kind === 'after-finish' && every !== undefined) return words.afterFinish(every)
  const texts = [expression, every, at, timezone].filter((text) => typeof text === 'string')
  return [words.kinds[kind] ?? kind, ...texts].join(' · ')
}

/** The zone of a trigger, where its kind has one. */
export function zoneOf({ schedule }: Trigger): string | undefined {
  const zone = schedule['timezone']
  return typeof zone === 'string' ? zone : undefined
}
