import type { Json } from '../../kernel/definition/json.js'

/** One thing that a sensor found. */
export interface Observation {
  /** What makes it this thing: the same key is never acted on twice within the sensor's scope. */
  readonly key: string
  /** The label of the slice of data that it is about. */
  readonly partition: string
  readonly payload?: Json | undefined
}

/** What a sensor begins with, or why it cannot. */
export type InitResult<S extends Json = Json> =
  | { readonly kind: 'ok'; readonly state: S }
  | { readonly kind: 'error'; readonly reason: string }

/** What one poll came to. The state it gives is kept whatever it came to. */
export type PollResult<S extends Json = Json> =
  | {
      readonly kind: 'trigger'
      readonly observations: readonly [Observation, ...Observation[]]
      readonly state: S
      /** Whether there is more to read at once, such as the next page of a listing. */
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
  /** The zone in which days are counted where an observation has no partition of its own. */
  readonly timezone: string
  /** Aborted when the poll has taken too long or the engine stops. */
  readonly signal: AbortSignal
}

/** An effectful probe that anyone can write: it looks at one outside thing and says what is new. Its state is JSON. */
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
  /** Calls back when there may be something to find at once; gives the function that ends it. A hint, never the truth. */
  readonly watch?: Watcher<C>['watch'] | undefined
}

/** The sensors of an app, by the names of their triggers; a part of its definitions. */
export function ownSensors(): Map<string, ConfiguredSensor> {
  return new Map()
}

/** Written as a method, so that a sensor with its own settings is still a sensor where those are not known. */
interface Watcher<C> {
  watch(this: void, hint: () => void, config: C): () => void
}
