import { kindsOf, specOf, type TriggerKind } from '../../engine/trigger-kind.js'
import { isHeard } from '../../kernel/trigger/trigger.js'
import { formatDuration } from '../../time/duration.js'

/** A sensor: the loop in `polling/` handles such triggers, not the scheduler. */
export const sensorKind: TriggerKind = {
  name: 'sensor',
  origin: 'sensor',
  instants: () => undefined,
  // The first poll is due immediately.
  begin: ({ enabled }, _current, now) => ({ cursorAt: now, nextAt: enabled ? now : undefined }),
  describe: (trigger) => {
    const { type, everyMs } = specOf(trigger, 'sensor')
    return isHeard(trigger.schedule) ? 'receives webhooks' : `${type} polled every ${formatDuration(everyMs)}`
  },
}

/** A sensor can only be replaced or ended as a sensor. */
export const sensorKinds = kindsOf([sensorKind])
