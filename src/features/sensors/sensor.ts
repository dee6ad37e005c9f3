import type { Json } from '../../kernel/definition/json.js'

/** One thing that a sensor found. */
export interface Observation {
  /** Its identity: the same key never triggers twice within the scope of `dedupe`. */
  readonly key: string
  /** The label of the part of the data that it belongs to. */
  readonly partition: string
  readonly payload?: Json | undefined
}

/** The first state of a sensor, or why it cannot begin. */
export type InitResult<S extends Json = Json> =
  | { readonly kind: 'ok'; readonly state: S }
  | { readonly kind: 'error'; readonly reason: string }

/** The result of one poll. Its state is kept, also that of an error. */
export type PollResult<S extends Json = Json> =
  | {
      readonly kind: 'trigger'
      readonly observations: readonly [Observation, ...Observation[]]
      readonly state: S
      /** Whether Rota should poll again immediately, for example for the next page of a listing. */
      readonly more?: boolean | undefined
    }
  | {
      readonly kind: 'no-trigger'
      readonly state: S
      /** Why nothing was found; `rota sensor history` shows it. */
      readonly reason?: string | undefined
      readonly more?: boolean | undefined
    }
  | { readonly kind: 'error'; readonly reason: string; readonly state: S }

/** What a poll gets. */
export interface PollContext<C> {
  readonly config: C
  /** The time of this poll. */
  readonly now: Date
  /** The zone of days, for observations without their own partition. */
  readonly timezone: string
  /** Aborted when the poll has taken too long or the engine stops. */
  readonly signal: AbortSignal
}

/** A probe that anyone can write: it polls one thing outside Rota and returns what is new. Its state is JSON. */
export interface Sensor<C = unknown, S extends Json = Json> {
  /** Called once, when the sensor is first started or reset. */
  init(config: C): Promise<InitResult<S>> | InitResult<S>
  poll(state: S, context: PollContext<C>): Promise<PollResult<S>> | PollResult<S>
  /** Called when the sensor is removed and when the engine stops cleanly. */
  cleanup?(state: S): Promise<void> | void
}

/** A sensor together with its settings, ready to be given a name. */
export interface ConfiguredSensor<C = unknown, S extends Json = Json> {
  /** What kind it is, for lists: `s3`, `sql`, `http` … */
  readonly type: string
  readonly sensor: Sensor<C, S>
  readonly config: C
  /** Calls back when there may be something to find; returns the function that ends this. Only a hint: the next poll finds the same. */
  readonly watch?: Watcher<C>['watch'] | undefined
}

/** The sensors of an app, by the names of their triggers; a part of its definitions. */
export function ownSensors(): Map<string, ConfiguredSensor> {
  return new Map()
}

/** A method type, so that a sensor with specific settings is assignable to a sensor with unknown settings. */
interface Watcher<C> {
  watch(this: void, hint: () => void, config: C): () => void
}
