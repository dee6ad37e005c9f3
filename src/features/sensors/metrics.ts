import type { SensorInfo } from './status.js'

/** How sensors fare, as Prometheus reads it. */
export function sensorMetrics(sensors: readonly SensorInfo[]): string {
  return metrics
    .map(({ name, kind, help, value }) => {
      const samples = sensors.flatMap((sensor) => {
        const found = value(sensor)
        return found === undefined ? [] : [`${name}{sensor="${escaped(sensor.name)}"} ${found}\n`]
      })
      return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${samples.join('')}`
    })
    .join('')
}

interface Metric {
  readonly name: string
  readonly kind: 'counter' | 'gauge'
  readonly help: string
  readonly value: (sensor: SensorInfo) => number | undefined
}

const metrics: readonly Metric[] = [
  {
    name: 'rota_sensor_polls_total',
    kind: 'counter',
    help: 'Polls that have ended.',
    value: ({ record }) => record.polls,
  },
  {
    name: 'rota_sensor_found_total',
    kind: 'counter',
    help: 'Observations that became runs.',
    value: ({ record }) => record.found,
  },
  {
    name: 'rota_sensor_failures',
    kind: 'gauge',
    help: 'Polls in a row that failed.',
    value: ({ record }) => record.failures,
  },
  {
    name: 'rota_sensor_paused',
    kind: 'gauge',
    help: 'Whether it is paused.',
    value: ({ pause }) => (pause === undefined ? 0 : 1),
  },
  {
    name: 'rota_sensor_lag_seconds',
    kind: 'gauge',
    help: 'How late its last poll began.',
    value: ({ record }) => record.lagMs / 1000,
  },
  {
    name: 'rota_sensor_last_success_timestamp_seconds',
    kind: 'gauge',
    help: 'When it was last polled with success.',
    value: ({ record }) => (record.lastSuccessAt === null ? undefined : record.lastSuccessAt / 1000),
  },
]

function escaped(label: string): string {
  return label.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}
