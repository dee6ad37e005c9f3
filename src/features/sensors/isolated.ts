import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Isolation } from '../../kernel/job/job.js'
import type { Json } from '../../kernel/definition/json.js'
import { toPayload } from '../../kernel/job/payload.js'
import type { ConfiguredSensor, InitResult, PollResult } from './sensor.js'
import type { Clock } from '../../time/clock.js'
import { modulePath } from '../../handlers/module.js'
import type { SensorCall } from '../isolation/sensor.js'

/** A sensor that a module exports, so that another thread or process can find it too. */
export interface SensorModule {
  /** A path; a relative one starts at the app's directory. */
  readonly module: string
  /** Default: `default`. */
  readonly export?: string | undefined
}

/** How long an init and a cleanup may take there. */
const initMs = 60_000
const cleanupMs = 5000

/** A sensor whose every call has a thread or process of its own: one that blocks harms nobody and is ended. */
export function isolatedSensor(
  given: SensorModule & { readonly config: unknown; readonly isolate: Isolation },
  around: {
    readonly clock: Clock
    readonly environment: Readonly<Record<string, string | undefined>>
    readonly directory: string
  },
): ConfiguredSensor {
  const { clock, directory } = around
  const module = modulePath(given.module, directory)
  const config = toPayload(given.config) ?? null
  const common = { module, export: given.export ?? 'default', config }
  const entry = createRequire(import.meta.url).resolve('#isolate-entry')
  const spec = {
    kind: 'module',
    module: join(dirname(entry), 'sensor.js'),
    export: 'callSensor',
    takesCommands: false,
    isolate: given.isolate,
  } as const
  const call = async (payload: SensorCall, signal: AbortSignal): Promise<Json | undefined> => {
    const { performIsolated } = await import('../isolation/run.js')
    const job = given.module
    const run = { id: '', job, trigger: undefined, attempt: 1, dueAt: 0, partition: undefined, payload }
    return await performIsolated(spec, { ...around, run, signal, entry, log: () => undefined })
  }
  const callWithin = async (limitMs: number, payload: SensorCall): Promise<Json | undefined> => {
    const limit = new AbortController()
    const cancel = clock.timer(limitMs, () => limit.abort())
    try {
      return await call(payload, limit.signal)
    } finally {
      cancel()
    }
  }
  return {
    type: 'custom',
    config,
    sensor: {
      init: async () => (await callWithin(initMs, { ...common, method: 'init' })) as InitResult,
      poll: async (state, { now, timezone, signal }) => {
        return (await call({ ...common, method: 'poll', state, now, timezone }, signal)) as PollResult
      },
      cleanup: async (state) => {
        await callWithin(cleanupMs, { ...common, method: 'cleanup', state })
      },
    },
  }
}
