/** Sensors as `--json` and the API show them. */
import { pick } from '../../wire/to-json.js'
import type { SensorInfo, SensorPreview } from './status.js'

/** A sensor as JSON, without its state. */
export function sensorView(sensor: SensorInfo) {
  const { spec, pause, record } = sensor
  return {
    ...pick(sensor, ['name', 'type', 'job', 'condition']),
    ...pick(spec, ['everyMs', 'timeoutMs', 'timezone']),
    dedupe: { by: spec.dedupeBy ?? 'key', forMs: spec.dedupeMs },
    pauseAfter: spec.pauseAfter,
    nextAt: sensor.nextAt,
    pollingSinceAt: sensor.pollingSinceAt,
    pause: pause && { by: pause.actor, note: pause.note, untilAt: pause.untilAt },
    ...pick(record, ['polls', 'found', 'failures', 'lagMs', 'lastPollAt', 'lastSuccessAt', 'lastFoundAt']),
    last: record.last,
  }
}

/** What a poll would find. */
export function previewView(preview: SensorPreview) {
  return pick(preview, ['kind', 'reason', 'observations', 'more', 'before', 'after'])
}
