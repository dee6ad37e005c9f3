import { defineSensor, type SensorInput } from '../definition.js'
import { sensorLoop } from '../polling/run.js'
import type { ConfiguredSensor, Sensor } from '../sensor.js'
import type { CastPart } from '../../../../test/fixtures/engine-stage.js'

/** A sensor of a simulated process, with its options. */
export interface SensorCast extends Partial<SensorInput> {
  readonly sensor: Sensor<never>
  readonly watch?: (hint: () => void) => () => void
}

/** Sensors of a simulated process, by name; they trigger its first job. */
export function sensorCast(sensors: Readonly<Record<string, SensorCast>>): CastPart {
  const all = Object.entries(sensors)
  const own = new Map<string, ConfiguredSensor>()
  for (const [name, { sensor, watch }] of all) own.set(name, { type: 'test', sensor, config: null, watch })
  return {
    triggers: (job) => all.map(([name, cast]) => defineSensor(name, 'test', { job, ...pollingOf(cast) })),
    loops: [sensorLoop(own)],
  }
}

function pollingOf({ sensor: _sensor, watch: _watch, ...polling }: SensorCast): Partial<SensorInput> {
  return polling
}
