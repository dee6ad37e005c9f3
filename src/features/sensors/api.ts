import { namedCalendars } from '../../engine/sync/calendars.js'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { placeOf, shown } from '../../kernel/definition/faults.js'
import type { AskedAudit } from '../../engine/audit-change.js'
import type { RunContext } from '../../engine/worker/perform.js'
import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import type { Json } from '../../kernel/definition/json.js'
import type { JobOptions } from '../../kernel/job/define-job.js'
import type { AnyJob } from '../../kernel/job/job-ref.js'
import type { Written } from '../../kernel/definition/read-value.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { AppContext } from '../app-context.js'
import {
  readSensorDefinition,
  sensorOrigin,
  type SensorDefinition,
  type SensorOptions,
} from './definition.js'
import type { Deliveries, Delivered } from './delivery/deliver.js'
import { recordKey, type Evaluation } from './record.js'
import { ownSensors, type ConfiguredSensor, type Observation } from './sensor.js'
import type { SensorInfo, SensorPreview, SensorReset } from './status.js'
import { givenSensor, onOwnDatabase, type GivenSensor } from './types.js'
import type { Webhooks } from './delivery/webhooks.js'

/** A sensor as code writes it: the probe, how it is polled, and what its observations trigger. */
export interface AppSensorOptions<C, S extends Json> extends SensorOptions, GivenSensor<C, S> {
  /** The job: every observation becomes a run of it; or `onTrigger`. */
  readonly job?: AnyJob | undefined
  /** A function that is called with the partition of every observation, as a run of a job with the name of the sensor; or `job`. */
  readonly onTrigger?: ((partition: string, run: RunContext) => unknown) | undefined
  /** How the runs of `onTrigger` are queued, retried and limited; default: three attempts. */
  readonly runs?: JobOptions | undefined
}

/** The address that accepts deliveries. */
export interface WebhookAddress {
  readonly host: string
  readonly port: number
}

/** `app.sensors`: probes that poll something outside Rota and trigger runs for what is new. */
export class Sensors {
  readonly #context: AppContext
  #deliveries: Deliveries | undefined
  #isRunning = false

  constructor(context: AppContext) {
    this.#context = context
    context.join({
      start: async () => void (this.#isRunning = true),
      stop: async () => void (this.#isRunning = false),
    })
  }

  /** Read again with each use: a reload gives the app other sensors. */
  get #sensors(): Map<string, ConfiguredSensor> {
    return this.#context.definitions.part(ownSensors)
  }

  /** Defines a sensor. Its name is the name of its trigger. */
  define<C, S extends Json>(name: string, options: AppSensorOptions<C, S>): void {
    const { assertNotStarted, definitions, storeUrl, clock, directory, handlerExtensions } = this.#context
    assertNotStarted('a sensor')
    const place = placeOf()
    const input = options as unknown as Written
    const read = readSensorDefinition(
      { name, type: undefined, input, calendars: definitions.part(namedCalendars) },
      place,
    )
    refuse(`sensor ${shown(name)}`, place.faults)
    const { trigger, job } = read as SensorDefinition
    const around = { clock, directory, handlerExtensions, environment: process.env }
    const configured = onOwnDatabase(givenSensor(options, around), storeUrl)
    const triggers = [{ trigger, origin: sensorOrigin }]
    definitions.add({ jobs: job === undefined ? [] : [job], triggers })
    this.#sensors.set(name, configured)
  }

  /** One sensor and its state. */
  async get(name: string): Promise<SensorInfo> {
    const { sensorInfo } = await import('./status.js')
    return await sensorInfo(await this.#context.store(), name, this.#context.now())
  }

  /** All sensors and their states, by name. */
  async list(): Promise<readonly SensorInfo[]> {
    const { listSensors } = await import('./status.js')
    return await listSensors(await this.#context.store(), { now: this.#context.now() })
  }

  /** Polls, findings, failures in a row, lag and last success of every sensor, as text for Prometheus. */
  async metrics(): Promise<string> {
    const { sensorMetrics } = await import('./health/metrics.js')
    return sensorMetrics(await this.list())
  }

  /** The results of a sensor's polls and deliveries, newest first. */
  async history(name: string): Promise<readonly Evaluation[]> {
    const { sensorHistory } = await import('./status.js')
    return await sensorHistory(await this.#context.store(), name, this.#context.now())
  }

  /** Polls a sensor of this app from its own state or a given one, and changes nothing. */
  async preview(name: string, options: { readonly state?: Json | undefined } = {}): Promise<SensorPreview> {
    const { previewSensor } = await import('./status.js')
    const configured = await this.#own(name)
    const { clock, now, definitions } = this.#context
    const defined = definitions.triggers.get(name)?.schedule
    const spec = defined?.kind === 'sensor' ? defined : undefined
    const store = await this.#context.store().catch(noStoreYet)
    const { state } = options
    const preview = await previewSensor(store, { name, configured, spec, state, clock, now: now() })
    const left = preview.after ?? preview.before
    // Cleaned up here, because an open connection would keep the process alive after a preview.
    if (!this.#isRunning && left !== undefined) await this.#cleanUp(name, configured, left)
    return preview
  }

  /** Makes a sensor start again, or from a given state; `keys` says whether it also forgets the keys it has seen. */
  async reset(
    name: string,
    options: { readonly keys: boolean; readonly state?: Json | undefined } & ChangeOptions,
  ): Promise<SensorReset> {
    const { resetSensor } = await import('./status.js')
    const asked = {
      operation: 'reset sensor',
      target: name,
      outcome: () => 'reset',
      options,
      audit: resetAudit(name),
    }
    const { keys, state, dryRun } = options
    return await this.#context.change(asked, (store, now) =>
      resetSensor(store, { name, keys, state, dryRun, now }),
    )
  }

  /** Ends a sensor of this app and forgets its state; its runs stay. */
  async remove(name: string, options: ChangeOptions = {}): Promise<void> {
    const asked = {
      operation: 'remove sensor',
      target: name,
      outcome: () => 'removed',
      options,
      audit: { action: 'sensor.remove', subjects: [{ kind: 'trigger', name } as const] },
    }
    await this.#context.change(asked, (store, now) => this.#remove(store, { name, now, ...options }))
  }

  async #remove(store: Store, request: { name: string; now: Instant } & ChangeOptions): Promise<void> {
    const { name, now } = request
    const { forgetSensor, sensorInfo } = await import('./status.js')
    const { record } = await sensorInfo(store, name, now)
    const [trigger] = await store.triggers({ names: [name] })
    const configured = await this.#own(name)
    if (request.dryRun === true) return
    if (trigger !== undefined) {
      const { end } = await import('../../engine/sync/sync.js')
      const { sensorKinds } = await import('./kind.js')
      await end(store, { kinds: sensorKinds, source: trigger.source, names: [name], now })
    }
    this.#sensors.delete(name)
    this.#context.definitions.triggers.delete(name)
    if (record.isInitialized) await this.#cleanUp(name, configured, record.state)
    await forgetSensor(store, name, now)
  }

  /** Passes an observation to a sensor. It is durable when the promise resolves. */
  async deliver(sensor: string, observation: Observation): Promise<Delivered> {
    const { Deliveries } = await import('./delivery/deliver.js')
    const { now, wake: onRuns, events } = this.#context
    const store = await this.#context.store()
    this.#deliveries ??= new Deliveries({ store, now, onRuns, events })
    return await this.#deliveries.deliver(sensor, observation)
  }

  /** Listens for signed deliveries to the webhook sensors of this app, at `/webhooks/<sensor>`, until the app stops. Before the start it answers 503. */
  async listen(address: { readonly host?: string; readonly port: number }): Promise<WebhookAddress> {
    const webhooks = await this.#webhooks()
    const { host = '127.0.0.1', port } = address
    return await this.#context.listen({ host, port }, (request, response) =>
      webhooks.answerNode(request, response),
    )
  }

  /** Answers a signed delivery to a webhook sensor of this app, whose name is the last part of the path. */
  async hook(request: Request): Promise<Response> {
    return await (await this.#webhooks()).answerFetch(request)
  }

  async #webhooks(): Promise<Webhooks> {
    const { Webhooks } = await import('./delivery/webhooks.js')
    const { clock, now, store, events } = this.#context
    return new Webhooks({
      sensorOf: (name) => this.#sensors.get(name),
      clock,
      now,
      isReady: () => this.#isRunning,
      timezoneOf: async (name) => {
        const [stored] = await (await store()).triggers({ names: [name] })
        return stored?.trigger.schedule.kind === 'sensor' ? stored.trigger.schedule.timezone : 'UTC'
      },
      deliver: (name, observation) => this.deliver(name, observation),
      onTrouble: (error) => events.emit('trouble', { where: 'webhooks', error, retryInMs: 0 }),
    })
  }

  /** The sensor with this name, if this app defines it. */
  async #own(name: string): Promise<ConfiguredSensor> {
    const configured = this.#sensors.get(name)
    if (configured !== undefined) return configured
    const { unknownSensor } = await import('./status.js')
    throw unknownSensor(name, [...this.#sensors.keys()])
  }

  async #cleanUp(name: string, configured: ConfiguredSensor, state: Json): Promise<void> {
    const { cleanUpSensor } = await import('./polling/poll.js')
    const { clock, events, tracer } = this.#context
    await cleanUpSensor(name, configured, { state, clock, events, tracer })
  }
}

function resetAudit(name: string): AskedAudit {
  const subjects = [{ kind: 'state', key: recordKey(name) } as const]
  return { action: 'sensor.reset', target: `trigger:${name}`, subjects }
}

function noStoreYet(error: unknown): undefined {
  if (!(error instanceof RotaError) || error.code !== 'STORE_NOT_FOUND') throw error
}
