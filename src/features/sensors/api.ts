import type { Deliveries, Delivered } from './deliver.js'
import type { RunContext } from '../../engine/worker/perform.js'
import { sensorKinds } from './kind.js'
import { end } from '../../engine/sync/sync.js'
import type { JobInput, JobOptions } from '../../kernel/job/define-job.js'
import { defineSensor, type SensorOptions } from './definition.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Json } from '../../kernel/definition/json.js'
import { ownSensors, type ConfiguredSensor, type Observation, type Sensor } from './sensor.js'
import type { Evaluation } from './record.js'
import { isolatedSensor, type SensorModule } from './isolated.js'
import type { JobRef } from '../../app/rota-options.js'
import { onOwnDatabase } from './types.js'
import type { SensorInfo, SensorPreview, SensorReset } from './status.js'
import type { WebhookAddress, Webhooks } from './webhooks.js'
import { RotaRounds } from '../rounds/api.js'

/** A sensor as code writes it: what looks, how it is polled, and what becomes of what it finds. */
export interface AppSensorOptions<C, S extends Json> extends SensorOptions {
  /** One of the built-in sensors with its settings, one of your own, or the module that exports one. */
  readonly sensor: ConfiguredSensor<C, S> | Sensor<C, S> | SensorModule
  /** What a sensor of your own is given. */
  readonly config?: C | undefined
  /** What each poll of a module's sensor runs in, so that a poll that blocks harms no other; default: a thread. */
  readonly isolate?: 'thread' | 'process' | undefined
  /** The job of which every observation becomes a run; or `onTrigger`. */
  readonly job?: string | JobRef<never> | JobRef | undefined
  /** A function that is called with the partition of every observation, as a run of a job that has the sensor's name; or `job`. */
  readonly onTrigger?: ((partition: string, run: RunContext) => unknown) | undefined
  /** How the runs of `onTrigger` are queued, retried and limited; default: three attempts. */
  readonly runs?: JobOptions | undefined
}

/** Sensors: probes that look at the outside and trigger runs for what is new. */
export abstract class RotaSensors extends RotaRounds {
  #deliveries: Promise<Deliveries> | undefined
  readonly #webhooks: Webhooks[] = []
  readonly #sensors = this.registry.part(ownSensors)

  /** Defines a sensor. Its name is the name of its trigger. */
  sensor<C, S extends Json>(name: string, options: AppSensorOptions<C, S>): void {
    this.assertNotStarted('a sensor')
    const { sensor: _, config: __, isolate: ___, job, onTrigger, runs, ...polling } = options
    const configured = this.#configured(name, options)
    if ((job === undefined) === (onTrigger === undefined)) throw eitherOr(name)
    if (onTrigger !== undefined) {
      this.define(name, { retry: 3, ...runs, handler: handlerOf(onTrigger) })
    } else if (runs !== undefined) {
      throw invalid(name, 'runs', 'it only goes with onTrigger; a job has its own options')
    }
    const jobName = job === undefined ? name : typeof job === 'string' ? job : job.name
    const complete = onOwnDatabase(configured, this.storeUrl)
    const trigger = defineSensor(name, complete.type, { ...polling, job: jobName })
    this.registry.addTrigger(trigger, { section: 'sensors' })
    this.#sensors.set(name, complete)
  }

  /** All sensors, and how they fare. */
  async sensors(): Promise<readonly SensorInfo[]> {
    const { listSensors } = await import('./status.js')
    return await listSensors(await this.store(), { now: this.now() })
  }

  /** What the polls and deliveries of a sensor came to, newest first. */
  async sensorHistory(name: string): Promise<readonly Evaluation[]> {
    const { sensorHistory } = await import('./status.js')
    return await sensorHistory(await this.store(), name, this.now())
  }

  /** Polls a sensor of this app, from its own state or a chosen one, and changes nothing. */
  async previewSensor(
    name: string,
    options: { readonly state?: Json | undefined } = {},
  ): Promise<SensorPreview> {
    const { previewSensor, unknownSensor } = await import('./status.js')
    const configured = this.#sensors.get(name)
    if (configured === undefined) throw unknownSensor(name, [...this.#sensors.keys()])
    const defined = this.registry.triggers.get(name)?.schedule
    const spec = defined?.kind === 'sensor' ? defined : undefined
    const store = await this.store().catch(noStoreYet)
    const { clock } = this
    const { state } = options
    const preview = await previewSensor(store, { name, configured, spec, state, clock, now: this.now() })
    const left = preview.after ?? preview.before
    // Nobody else will: what it opened must not keep a process alive that only wanted to look.
    if (!this.isReady && left !== undefined) await this.#cleanUp(name, configured, left)
    return preview
  }

  /** Lets a sensor begin anew, or from a chosen state; `keys` says whether it also forgets what it has seen. */
  async resetSensor(
    name: string,
    options: { readonly keys: boolean; readonly state?: Json | undefined },
  ): Promise<SensorReset> {
    const { resetSensor } = await import('./status.js')
    const { keys, state } = options
    const reset = await resetSensor(await this.store(), { name, keys, state, now: this.now() })
    this.wake()
    return reset
  }

  /** Ends a sensor of this app and forgets what is known of it; its runs stay. */
  async removeSensor(name: string): Promise<void> {
    const store = await this.store()
    const { forgetSensor, sensorInfo, unknownSensor } = await import('./status.js')
    const { record } = await sensorInfo(store, name, this.now())
    const [trigger] = await store.triggers({ names: [name] })
    const configured = this.#sensors.get(name)
    if (configured === undefined) throw unknownSensor(name, [...this.#sensors.keys()])
    if (trigger !== undefined)
      await end(store, { kinds: sensorKinds, source: trigger.source, names: [name], now: this.now() })
    this.#sensors.delete(name)
    this.registry.triggers.delete(name)
    if (record.isInitialized) await this.#cleanUp(name, configured, record.state)
    await forgetSensor(store, name, this.now())
  }

  /** Hands a sensor an observation that came by itself. It is durable when the promise resolves. */
  async deliver(sensor: string, observation: Observation): Promise<Delivered> {
    this.#deliveries ??= this.#newDeliveries().catch((error: unknown) => {
      // What failed once may succeed the next time.
      this.#deliveries = undefined
      throw error
    })
    return await (await this.#deliveries).deliver(sensor, observation)
  }

  /** Listens for signed deliveries to the webhook sensors of this app, at `/webhooks/<sensor>`, until the app stops. Before the start it puts them off with 503. */
  async listenForWebhooks(address: {
    readonly host?: string
    readonly port: number
  }): Promise<WebhookAddress> {
    const { Webhooks } = await import('./webhooks.js')
    const webhooks = new Webhooks({
      sensors: this.#sensors,
      clock: this.clock,
      now: () => this.now(),
      isReady: () => this.hasStarted,
      timezoneOf: async (name) => {
        const [stored] = await (await this.store()).triggers({ names: [name] })
        return stored?.trigger.schedule.kind === 'sensor' ? stored.trigger.schedule.timezone : 'UTC'
      },
      deliver: (name, observation) => this.deliver(name, observation),
      onTrouble: (error) => this.events.emit('trouble', { where: 'webhooks', error, retryInMs: 0 }),
    })
    this.#webhooks.push(webhooks)
    return await webhooks.listen(address)
  }

  override async stop(options: { readonly grace?: string | number } = {}): Promise<void> {
    await this.#closeWebhooks()
    await super.stop(options)
  }

  override close(): Promise<void> {
    void this.#closeWebhooks()
    return super.close()
  }

  #configured<C, S extends Json>(name: string, options: AppSensorOptions<C, S>): ConfiguredSensor {
    const { sensor, config, isolate } = options
    if (isModule(sensor)) {
      const { clock, directory } = this
      const given = { ...sensor, config, isolate: { kind: isolate ?? 'thread', memoryMb: 512 } }
      return isolatedSensor(given, { clock, directory, environment: process.env })
    }
    if (isolate !== undefined) {
      throw invalid(name, 'isolate', 'only a module can be isolated: sensor: { module: … }')
    }
    return isConfigured(sensor) ? sensor : custom(sensor, config as C)
  }

  async #cleanUp(name: string, configured: ConfiguredSensor, state: Json): Promise<void> {
    const { cleanUpSensor } = await import('./polling/cleanup.js')
    const { clock, events, tracer } = this
    await cleanUpSensor(name, configured, { state, clock, events, tracer })
  }

  async #newDeliveries(): Promise<Deliveries> {
    const { Deliveries } = await import('./deliver.js')
    return new Deliveries({
      store: await this.store(),
      now: () => this.now(),
      onRuns: () => this.wake(),
      onTick: ({ trigger, at, runs, ranges }) => this.events.emit('tick', { trigger, at, runs, ranges }),
    })
  }

  async #closeWebhooks(): Promise<void> {
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
