import { kindsOf, specOf, type TriggerKind } from '../../engine/trigger-kind.js'
import { isHeard } from '../../kernel/trigger/trigger.js'
import { formatDuration } from '../../time/duration.js'

/** A sensor: the loop in `polling/` looks at such triggers, not the scheduler. */
export const sensorKind: TriggerKind = {
  name: 'sensor',
  origin: 'sensor',
  instants: () => undefined,
  // The first poll is due at once.
  begin: ({ enabled }, _current, now) => ({ cursorAt: now, nextAt: enabled ? now : undefined }),
  describe: (trigger) => {
    const { type, everyMs } = specOf(trigger, 'sensor')
    return isHeard(trigger.schedule) ? 'heard by webhook' : `${type} polled every ${formatDuration(everyMs)}`
  },
}

/** The only kind that a sensor can be replaced or ended as. */
export const sensorKinds = kindsOf([sensorKind])
