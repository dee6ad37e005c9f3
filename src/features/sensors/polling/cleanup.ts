import type { Json } from '../../../kernel/definition/json.js'
import type { ConfiguredSensor } from '../sensor.js'
import type { Clock } from '../../../time/clock.js'
import type { Events } from '../../../engine/events.js'
import { tracedSensor, type ErrorTracer } from '../../../engine/worker/error-tracer.js'
import { reasonOf } from './poll.js'

const limitMs = 5000

/** Cleans a sensor up, within a time limit. Never throws: a cleanup that fails is a `trouble` event. */
export async function cleanUpSensor(
  name: string,
  { sensor }: Pick<ConfiguredSensor, 'sensor'>,
  context: {
    readonly state: Json
    readonly clock: Clock
    readonly events: Events
    readonly tracer: ErrorTracer
  },
): Promise<void> {
  const { state, clock, events, tracer } = context
  if (sensor.cleanup === undefined) return
  const over = new AbortController()
  const cleanup = async (): Promise<void> => await sensor.cleanup?.(structuredClone(state))
  const cleaned = tracer.run(tracedSensor(name, events), cleanup, undefined).catch((error: unknown) => {
    const failure = new Error(`its cleanup failed: ${reasonOf(error)}`, { cause: error })
    events.emit('trouble', { where: `sensor ${name}`, error: failure, retryInMs: 0 })
  })
  await Promise.race([cleaned, clock.sleep(limitMs, over.signal)])
  over.abort()
}
