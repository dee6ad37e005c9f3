import type { ConfiguredSensor } from '../sensor.js'
import type { FeatureLoopContext } from '../../../engine/feature-loop.js'
import { tracedSensor } from '../../../engine/worker/error-tracer.js'

/** What listening to sensors needs. */
interface WatchOptions extends Pick<FeatureLoopContext, 'clock' | 'events' | 'tracer' | 'wake'> {
  readonly sensors: ReadonlyMap<string, ConfiguredSensor>
}

/** A sensor that is hinted at without end is still polled no more often than this. */
const apartMs = 100

/** Collects the hints of sensors that can say when there may be something to find. */
export class SensorWatches {
  readonly #options: WatchOptions
  readonly #hinted = new Set<string>()
  readonly #begunMs = new Map<string, number>()
  /** Hints that came too soon after a poll began, and wait. */
  readonly #later = new Map<string, () => void>()
  readonly #undo = new Map<string, () => void>()

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Begins to listen; a sensor that cannot be listened to is polled all the same. */
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

  /** Whether there may be something to find that no poll has looked for yet. */
  isHinted(name: string): boolean {
    return this.#hinted.has(name)
  }

  /** A poll begins: it looks for everything that was hinted at before. */
  begun(name: string): void {
    this.#hinted.delete(name)
    this.#begunMs.set(name, this.#options.clock.monotonicMs())
  }

  /** A look follows the hint. */
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
