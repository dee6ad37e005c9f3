import type { ReactNode } from 'react'
import type { Sensor } from '../../../../src/client/operations.js'
import { formatCount, formatDuration } from '../../data/format.js'
import { FactList } from '../../parts/facts.js'
import { Panel } from '../../parts/panel.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/sensors.js'

/** How the sensor polls, what it has found so far, and how far behind it is. */
export function SensorFacts({ sensor }: { sensor: Sensor }): ReactNode {
  const { facts } = words
  const time = (at: string | null): ReactNode => (at === null ? null : <Time at={at} />)
  const { dedupe, pauseAfter, failures } = sensor
  return (
    <Panel title={facts.title} padded>
      <FactList
        facts={[
          [facts.every, sensor.type === 'webhook' ? words.delivered : formatDuration(sensor.everyMs)],
          [facts.timeout, formatDuration(sensor.timeoutMs)],
          [facts.next, time(sensor.nextAt)],
          [facts.polling, time(sensor.pollingSinceAt)],
          [facts.polls, formatCount(sensor.polls)],
          [facts.found, formatCount(sensor.found)],
          [facts.failures, failures === 0 ? null : formatCount(failures)],
          [facts.pauseAfter, pauseAfter === null ? null : facts.failuresInRow(pauseAfter)],
          [facts.lag, formatDuration(sensor.lagMs)],
          [facts.lastPoll, time(sensor.lastPollAt)],
          [facts.lastSuccess, time(sensor.lastSuccessAt)],
          [facts.lastFound, time(sensor.lastFoundAt)],
          [facts.dedupe, dedupe.forMs === null ? dedupe.by : `${dedupe.by}, ${formatDuration(dedupe.forMs)}`],
          [facts.timezone, sensor.timezone],
        ]}
      />
    </Panel>
  )
}
