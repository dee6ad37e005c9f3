import { end } from '../../engine/sync/sync.js'
import { functionOf } from '../../engine/sync/registry.js'
import type { RunContext } from '../../engine/worker/perform.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Json } from '../../kernel/definition/json.js'
import { defineJob, type JobInput, type JobOptions } from '../../kernel/job/define-job.js'
import { jobName, type AnyJob } from '../../kernel/job/job-ref.js'
import type { AppContext } from '../app-context.js'
import { defineSensor, type SensorOptions } from './definition.js'
import type { Deliveries, Delivered } from './deliver.js'
import { isolatedSensor, type SensorModule } from './isolated.js'
import type { Evaluation } from './record.js'
import { ownSensors, type ConfiguredSensor, type Observation, type Sensor } from './sensor.js'
import type { SensorInfo, SensorPreview, SensorReset } from './status.js'
import { onOwnDatabase } from './types.js'
import type { WebhookAddress, Webhooks } from './webhooks.js'

/** A sensor as code writes it: what looks, how it is polled, and what becomes of what it finds. */
export interface AppSensorOptions<C, S extends Json> extends SensorOptions {
  /** One of the built-in sensors with its settings, one of your own, or the module that exports one. */
  readonly sensor: ConfiguredSensor<C, S> | Sensor<C, S> | SensorModule
  /** What a sensor of your own is given. */
  readonly config?: C | undefined
  /** What each poll of a module's sensor runs in, so that a poll that blocks harms no other; default: a thread. */
  readonly isolate?: 'thread' | 'process' | undefined
  /** The job of which every observation becomes a run; or `onTrigger`. */
  readonly job?: AnyJob | undefined
  /** A function that is called with the partition of every observation, as a run of a job that has the sensor's name; or `job`. */
  readonly onTrigger?: ((partition: string, run: RunContext) => unknown) | undefined
  /** How the runs of `onTrigger` are queued, retried and limited; default: three attempts. */
  readonly runs?: JobOptions | undefined
}

/** `app.sensors`: probes that look at something outside and trigger runs for what is new. */
export class Sensors {
  readonly #context: AppContext
  readonly #sensors: Map<string, ConfiguredSensor>
  readonly #webhooks: Webhooks[] = []
  #deliveries: Promise<Deliveries> | undefined
  #isRunning = false

  constructor(context: AppContext) {
    this.#context = context
    this.#sensors = context.definitions.part(ownSensors)
    context.join({
      start: async () => void (this.#isRunning = true),
      stop: () => this.#closeWebhooks(),
    })
  }

  /** Defines a sensor. Its name is the name of its trigger. */
  define<C, S extends Json>(name: string, options: AppSensorOptions<C, S>): void {
    const { assertNotStarted, definitions, storeUrl } = this.#context
    assertNotStarted('a sensor')
    const { sensor: _, config: __, isolate: ___, job, onTrigger, runs, ...polling } = options
    const configured = onOwnDatabase(this.#configured(name, options), storeUrl)
    if ((job === undefined) === (onTrigger === undefined)) throw eitherOr(name)
    if (onTrigger !== undefined) {
      const input = { retry: 3, ...runs, handler: handlerOf(onTrigger) }
      definitions.addJob(defineJob(name, input), functionOf(input))
    } else if (runs !== undefined) {
      throw invalid(name, 'runs', 'it only goes with onTrigger; a job has its own options')
    }
    const trigger = defineSensor(name, configured.type, {
      ...polling,
      job: job === undefined ? name : jobName(job),
    })
    definitions.addTrigger(trigger, { section: 'sensors' })
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
    // Nobody else will: what it opened must not keep a process alive that only wanted to look.
    if (!this.#isRunning && left !== undefined) await this.#cleanUp(name, configured, left)
    return preview
  }

  /** Lets a sensor begin anew, or from a given state; `keys` says whether it also forgets the keys it has seen. */
  async reset(
    name: string,
    options: { readonly keys: boolean; readonly state?: Json | undefined },
  ): Promise<SensorReset> {
    const { resetSensor } = await import('./status.js')
    const { store, now, wake } = this.#context
    const reset = await resetSensor(await store(), { name, ...options, now: now() })
    wake()
    return reset
  }

  /** Ends a sensor of this app and forgets its state; its runs stay. */
  async remove(name: string): Promise<void> {
    const { store, now, definitions } = this.#context
    const { forgetSensor, sensorInfo } = await import('./status.js')
    const opened = await store()
    const { record } = await sensorInfo(opened, name, now())
    const [trigger] = await opened.triggers({ names: [name] })
    const configured = await this.#own(name)
    const { sensorKinds } = await import('./kind.js')
    if (trigger !== undefined)
      await end(opened, { kinds: sensorKinds, source: trigger.source, names: [name], now: now() })
    this.#sensors.delete(name)
    definitions.triggers.delete(name)
    if (record.isInitialized) await this.#cleanUp(name, configured, record.state)
    await forgetSensor(opened, name, now())
  }

  /** Hands an observation to a sensor. It is durable when the promise resolves. */
  async deliver(sensor: string, observation: Observation): Promise<Delivered> {
    this.#deliveries ??= this.#newDeliveries().catch((error: unknown) => {
      // What failed once may succeed the next time.
      this.#deliveries = undefined
      throw error
    })
    return await (await this.#deliveries).deliver(sensor, observation)
  }

  /** Listens for signed deliveries to the webhook sensors of this app, at `/webhooks/<sensor>`, until the app stops. Before the start it answers 503. */
  async listen(address: { readonly host?: string; readonly port: number }): Promise<WebhookAddress> {
    const { Webhooks } = await import('./webhooks.js')
    const { clock, now, store, events } = this.#context
    const webhooks = new Webhooks({
      sensors: this.#sensors,
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
    this.#webhooks.push(webhooks)
    return await webhooks.listen(address)
  }

  /** The sensor with this name, if this app defines it. */
  async #own(name: string): Promise<ConfiguredSensor> {
    const configured = this.#sensors.get(name)
    if (configured !== undefined) return configured
    const { unknownSensor } = await import('./status.js')
    throw unknownSensor(name, [...this.#sensors.keys()])
  }

  #configured<C, S extends Json>(name: string, options: AppSensorOptions<C, S>): ConfiguredSensor {
    const { sensor, config, isolate } = options
    if (isModule(sensor)) {
      const { clock, directory, handlerExtensions } = this.#context
      const given = { ...sensor, config, isolate: { kind: isolate ?? 'thread', memoryMb: 512 } }
      return isolatedSensor(given, { clock, directory, handlerExtensions, environment: process.env })
    }
    if (isolate !== undefined) {
      throw invalid(name, 'isolate', 'only a module can be isolated: sensor: { module: … }')
    }
    return isConfigured(sensor) ? sensor : custom(sensor, config as C)
  }

  async #cleanUp(name: string, configured: ConfiguredSensor, state: Json): Promise<void> {
    const { cleanUpSensor } = await import('./polling/cleanup.js')
    const { clock, events, tracer } = this.#context
    await cleanUpSensor(name, configured, { state, clock, events, tracer })
  }

  async #newDeliveries(): Promise<Deliveries> {
    const { Deliveries } = await import('./deliver.js')
    const { store, now, wake, events } = this.#context
    return new Deliveries({
      store: await store(),
      now,
      onRuns: wake,
      onTick: ({ trigger, at, runs, ranges }) => events.emit('tick', { trigger, at, runs, ranges }),
    })
  }

  async #closeWebhooks(): Promise<void> {
    this.#isRunning = false
    await Promise.all(this.#webhooks.splice(0).map((one) => one.close()))
  }
}

function noStoreYet(error: unknown): undefined {
  if (!(error instanceof RotaError) || error.code !== 'STORE_NOT_FOUND') throw error
}

function isModule(sensor: object): sensor is SensorModule {
  return 'module' in sensor && typeof sensor.module === 'string'
}

function isConfigured<C, S extends Json>(
  sensor: ConfiguredSensor<C, S> | Sensor<C, S>,
): sensor is ConfiguredSensor<C, S> {
  return 'sensor' in sensor
}

function custom<C, S extends Json>(sensor: Sensor<C, S>, config: C): ConfiguredSensor<C, S> {
  return { type: 'custom', sensor, config }
}

function handlerOf(onTrigger: (partition: string, run: RunContext) => unknown): JobInput['handler'] {
  return (run: RunContext) => onTrigger(run.partition ?? '', run)
}

function eitherOr(name: string): RotaError {
  return invalid(name, 'job', 'exactly one of job and onTrigger says what to do with what is found')
}

function invalid(name: string, option: string, message: string): RotaError {
  const faults = [{ path: `sensors.${name}.${option}`, message }]
  return new RotaError('DEFINITION_INVALID', `sensor ${name} is not valid: ${option}: ${message}`, { faults })
}
