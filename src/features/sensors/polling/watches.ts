import type { ConfiguredSensor } from '../sensor.js'
import type { FeatureLoopContext } from '../../../engine/feature-loop.js'
import { tracedSensor } from '../../../engine/worker/error-tracer.js'

/** What the watches of sensors need. */
interface WatchOptions extends Pick<FeatureLoopContext, 'clock' | 'events' | 'tracer' | 'wake'> {
  readonly sensors: ReadonlyMap<string, ConfiguredSensor>
}

/** However many hints there are, a sensor is polled no more often than this. */
const apartMs = 100

/** Collects the hints of sensors that have a watch. */
export class SensorWatches {
  readonly #options: WatchOptions
  readonly #hinted = new Set<string>()
  readonly #begunMs = new Map<string, number>()
  /** Hints that came too soon after the start of a poll, and wait. */
  readonly #later = new Map<string, () => void>()
  readonly #undo = new Map<string, () => void>()

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Starts the watches; a sensor whose watch fails is still polled. */
  start(): void {
    const { sensors, events, tracer } = this.#options
    for (const [name, { watch, config }] of sensors) {
      if (watch === undefined) continue
      const traced = tracedSensor(name, events)
      try {
        const listen = (): (() => void) => watch(() => this.#hear(name), config)
        this.#undo.set(name, tracer.run(traced, listen, undefined))
      } catch (error) {
        traced.fail(error)
      }
    }
  }

  stop(): void {
    for (const cancel of this.#later.values()) cancel()
    this.#later.clear()
    for (const name of this.#undo.keys()) this.#unwatch(name)
  }

  /** Whether there is a hint that no poll has handled yet. */
  isHinted(name: string): boolean {
    return this.#hinted.has(name)
  }

  /** Called when a poll begins: it handles all earlier hints. */
  begun(name: string): void {
    this.#hinted.delete(name)
    this.#begunMs.set(name, this.#options.clock.monotonicMs())
  }

  /** A step of the loop follows the hint. */
  taken(name: string): void {
    this.#hinted.delete(name)
  }

  #hear(name: string): void {
    const { clock, sensors } = this.#options
    if (!sensors.has(name)) return this.#unwatch(name)
    if (this.#hinted.has(name) || this.#later.has(name)) return
    const waitMs = (this.#begunMs.get(name) ?? -Infinity) + apartMs - clock.monotonicMs()
    if (waitMs <= 0) this.#hint(name)
    else
      this.#later.set(
        name,
        clock.timer(waitMs, () => this.#hint(name)),
      )
  }

  #hint(name: string): void {
    this.#later.delete(name)
    this.#hinted.add(name)
    this.#options.wake()
  }

  #unwatch(name: string): void {
    try {
      this.#undo.get(name)?.()
    } catch (error) {
      tracedSensor(name, this.#options.events).fail(error)
    }
    this.#undo.delete(name)
  }
}
