import type { ReactNode } from 'react'
import type { Trigger } from '../../../../src/client/operations.js'
import { formatDuration } from '../../data/format.js'
import { scheduleWords as words } from '../../words/common.js'
import { Time } from '../time.js'

/** When a trigger is due, in one line. The instant of one that is due once is in the reader's zone, as all times are. */
export function ScheduleLine({ trigger }: { trigger: Trigger }): ReactNode {
  const { at } = trigger.schedule
  return (
    <>
      {scheduleText(trigger)}
      {typeof at === 'string' ? (
        <>
          {' · '}
          <Time at={at} zone={zoneOf(trigger)} relative={false} withDate />
        </>
      ) : null}
    </>
  )
}

/** The same without instants: its expression and its zone, its interval, or what its kind says. */
export function scheduleText({ schedule }: Trigger): string {
  const { kind, expression, timezone, everyMs } = schedule
  const every = typeof everyMs === 'number' ? words.every(formatDuration(everyMs)) : undefined
  if (kind === 'after-finish' && every !== undefined) return words.afterFinish(every)
  const texts = [expression, every, timezone].filter((text) => typeof text === 'string')
  return [words.kinds[kind] ?? kind, ...texts].join(' · ')
}

/** The zone of a trigger, where its kind has one. */
export function zoneOf({ schedule }: Trigger): string | undefined {
  const zone = schedule['timezone']
  return typeof zone === 'string' ? zone : undefined
}
