import { count, ok, warn, type Facts, type Finding } from '../../../engine/explain/finding.js'
import type { Instant } from '../../../time/instant.js'
import { listSensors, type SensorInfo } from '../status.js'
import { delayText, isBehind, lateMs } from './behind.js'

/** Sensors that fail, were paused because of failures, or are not polled in time. */
export async function sensorsBehind({ store, triggers, now }: Facts): Promise<Finding[]> {
  if (!triggers.some(({ active, trigger }) => active && trigger.schedule.kind === 'sensor')) return []
  const sensors = (await listSensors(store, { now })).filter(({ condition }) => condition !== 'ended')
  const findings = sensors.flatMap((sensor) => sensorFinding(sensor, now) ?? [])
  return findings.length > 0 ? findings : [ok('sensors', `${count(sensors.length, 'sensor')}, none behind`)]
}

function sensorFinding(sensor: SensorInfo, now: Instant): Finding | undefined {
  const { name, condition, record, pause, nextAt, spec, pollingSinceAt } = sensor
  const reason = record.last?.kind === 'error' ? `: ${record.last.reason ?? ''}` : ''
  const failed = `${count(record.failures, 'failure')} in a row${reason}`
  const look = `\`rota sensor history ${name}\` shows the polls`
  if (condition === 'failing' || condition === 'broken')
    return warn('sensors', `sensor ${name} is ${condition}, ${failed}`, `fix what it polls; ${look}`)
  if (pause !== undefined && record.failures > 0)
    return warn(
      'sensors',
      `sensor ${name} was paused after ${failed}`,
      `fix it, then \`rota resume ${name}\``,
    )
  if (spec.type === 'webhook' || pause !== undefined || pollingSinceAt !== undefined) return undefined
  return lateSensor(sensor, nextAt === undefined ? 0 : now - nextAt)
}

/** A sensor that no process polls, or whose polls begin late. */
function lateSensor(sensor: SensorInfo, behindMs: number): Finding | undefined {
  const { name, record } = sensor
  if (behindMs >= lateMs) {
    const message = `sensor ${name} should have been polled ${delayText(behindMs)} ago`
    return warn('sensors', message, 'start the program that defines it: no other can poll it')
  }
  if (!isBehind(sensor)) return undefined
  const message = `the last poll of sensor ${name} began ${delayText(record.lagMs)} late`
  return warn('sensors', message, 'its process has too much to do: poll less often, or start another process')
}
