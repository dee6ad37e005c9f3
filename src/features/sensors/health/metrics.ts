import type { EngineEvents } from '../../../engine/events.js'
import type { FeatureGauge } from '../../../wire/feature-gauge.js'
import type { SensorInfo } from '../status.js'

/** How late polls of this process begin. */
export const lagGauge: FeatureGauge = {
  name: 'rota_sensor_lag_seconds',
  help: 'How late the last poll of a sensor began.',
  label: 'sensor',
  event: 'sensor:polled',
  read: ({ sensor, lagMs }: EngineEvents['sensor:polled']) => ({ of: sensor, value: lagMs / 1000 }),
}

/** The state of sensors, as text for Prometheus. */
export function sensorMetrics(sensors: readonly SensorInfo[]): string {
  return metrics
    .map(([ending, kind, help, value]) => {
      const name = `rota_sensor_${ending}`
      const samples = sensors.flatMap((sensor) => {
        const found = value(sensor)
        return found === undefined ? [] : [`${name}{sensor="${escaped(sensor.name)}"} ${found}\n`]
      })
      return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${samples.join('')}`
    })
    .join('')
}

type Metric = readonly [
  ending: string,
  kind: 'counter' | 'gauge',
  help: string,
  value: (sensor: SensorInfo) => number | undefined,
]

const metrics: readonly Metric[] = [
  ['polls_total', 'counter', 'Polls that have ended.', ({ record }) => record.polls],
  ['found_total', 'counter', 'Observations that became runs.', ({ record }) => record.found],
  ['failures', 'gauge', 'Polls in a row that failed.', ({ record }) => record.failures],
  ['paused', 'gauge', 'Whether it is paused.', ({ pause }) => (pause === undefined ? 0 : 1)],
  ['lag_seconds', 'gauge', 'How late its last poll began.', ({ record }) => record.lagMs / 1000],
  [
    'last_success_timestamp_seconds',
    'gauge',
    'When it was last polled with success.',
    ({ record }) => (record.lastSuccessAt === null ? undefined : record.lastSuccessAt / 1000),
  ],
]

function escaped(label: string): string {
  return label.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}
