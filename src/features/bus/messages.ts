/**
 * The message bus: tells whoever listens, here or in other processes, what the engine's events tell. It carries notices,
 * never the truth: a message may be lost or come twice, and what is offered on it is taken through a claim like any other.
 */
import { eventNames, type EngineEvents, type EventName, type Events } from '../../engine/events.js'

/** One event on the bus. */
export type BusMessage = {
  [Name in EventName]: { readonly name: Name; readonly event: EngineEvents[Name] }
}[EventName]

/** Where messages go. */
export interface Bus {
  /** Tells everyone who listens; neither waits nor throws. */
  publish(message: BusMessage): void

  /** Hears every message from now on; gives the function that ends it. */
  subscribe(hear: (message: BusMessage) => unknown): () => void

  /** Whether anyone may be listening: what nobody hears need not be put together. */
  readonly isHeard: boolean
}

/** A bus within one process. A listener that throws harms nobody: its error is passed on. */
export class InProcessBus implements Bus {
  readonly #listeners = new Set<(message: BusMessage) => unknown>()
  readonly #onTrouble: (error: unknown, message: BusMessage) => void

  constructor(onTrouble: (error: unknown, message: BusMessage) => void) {
    this.#onTrouble = onTrouble
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  publish(message: BusMessage): void {
    for (const hear of this.#listeners) {
      try {
        const returned = hear(message)
        if (returned instanceof Promise) returned.catch((error: unknown) => this.#onTrouble(error, message))
      } catch (error) {
        this.#onTrouble(error, message)
      }
    }
  }

  subscribe(hear: (message: BusMessage) => unknown): () => void {
    // The same function may listen twice.
    const listener = (message: BusMessage): unknown => hear(message)
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** Passes every event on to a bus from now on. */
export function publishEvents(events: Events, bus: Bus): void {
  for (const name of eventNames) events.on(name, (event) => bus.publish({ name, event } as BusMessage))
}
