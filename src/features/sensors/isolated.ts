import { createRequire } from 'node:module'
import type { Isolation } from '../../kernel/job/job.js'
import type { Json } from '../../kernel/definition/json.js'
import { toPayload } from '../../kernel/job/payload.js'
import type { ConfiguredSensor, InitResult, PollResult } from './sensor.js'
import type { Clock } from '../../time/clock.js'
import { modulePath } from '../../handlers/module.js'
import type { HandlerExtension } from '../../handlers/executable-jobs.js'
import type { SensorCall } from './isolated-call.js'

/** A sensor that a module exports, so that another thread or process can find it too. */
export interface SensorModule {
  /** A path; a relative one starts at the app's directory. */
  readonly module: string
  /** Default: `default`. */
  readonly export?: string | undefined
}

/** What a sensor of a module needs of its app. */
export interface SensorHost {
  readonly clock: Clock
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly directory: string
  readonly handlerExtensions: () => Promise<readonly HandlerExtension[]>
}

/** How long init and cleanup may take. */
const initMs = 60_000
const cleanupMs = 5000

/** A sensor with a new thread or process for each call: a call that blocks affects nothing else and is terminated. */
export function isolatedSensor(
  given: SensorModule & { readonly config: unknown; readonly isolate: Isolation },
  around: SensorHost,
): ConfiguredSensor {
  const { clock, directory, environment } = around
  const module = modulePath(given.module, directory)
  const config = toPayload(given.config) ?? null
  const common = { module, export: given.export ?? 'default', config }
  const spec = {
    kind: 'module',
    // The compiled module, wherever this file was loaded from.
    module: createRequire(import.meta.url).resolve('#isolated-sensor'),
    export: 'callSensor',
    takesCommands: false,
    isolate: given.isolate,
  } as const
  const call = async (payload: SensorCall, signal: AbortSignal): Promise<Json | undefined> => {
    const { isolatedBy } = await import('../../handlers/executable-jobs.js')
    const isolated = isolatedBy(await around.handlerExtensions())
    const job = given.module
    const run = { ...noRun, job, payload }
    return await isolated(spec, { clock, directory, environment, run, signal, log: () => undefined })
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
        return (await call(
          { ...common, method: 'poll', state, now: now.getTime(), timezone },
          signal,
        )) as PollResult
      },
      cleanup: async (state) => {
        await callWithin(cleanupMs, { ...common, method: 'cleanup', state })
      },
    },
  }
}

/** A call of a sensor is not a run, but is sent like one. */
const noRun = { id: '', trigger: undefined, attempt: 1, isLastAttempt: true, dueAt: 0, partition: undefined }
