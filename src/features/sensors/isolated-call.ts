import type { RunContext } from '../../engine/worker/perform.js'
import { maxResultBytes } from '../../kernel/definition/bounds.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Json } from '../../kernel/definition/json.js'
import type { Sensor } from './sensor.js'
import { importModule } from '../../formats/config/config-module.js'

/** One call of an isolated sensor. */
export type SensorCall = {
  readonly module: string
  readonly export: string
  readonly config: Json
} & (
  | { readonly method: 'init' }
  | { readonly method: 'poll'; readonly state: Json; readonly now: number; readonly timezone: string }
  | { readonly method: 'cleanup'; readonly state: Json }
)

/** Calls a sensor in the thread or process of this call. */
export async function callSensor({ payload: call, signal }: RunContext<SensorCall>): Promise<unknown> {
  const { config } = call
  const sensor = (await importModule(call.module))[call.export] as Partial<Sensor<Json>> | undefined
  if (typeof sensor?.init !== 'function' || typeof sensor.poll !== 'function') {
    throw new RotaError('HANDLER_MISSING', `${call.module} exports no sensor named ${call.export}`)
  }
  switch (call.method) {
    case 'init':
      return await sensor.init(config)
    case 'cleanup':
      return await sensor.cleanup?.(call.state)
    case 'poll': {
      const { state, now, timezone } = call
      return fitting(await sensor.poll(state, { config, now: new Date(now), timezone, signal }), state)
    }
  }
}

/** Messages between threads have a size limit; a larger answer is refused instead of cut. */
function fitting(answer: unknown, state: Json): unknown {
  const bytes = Buffer.byteLength(JSON.stringify(answer) ?? '')
  if (bytes <= maxResultBytes) return answer
  const reason = `an isolated poll returns at most ${maxResultBytes} bytes, not ${bytes}; return smaller pages with more: true`
  return { kind: 'error', reason, state }
}
