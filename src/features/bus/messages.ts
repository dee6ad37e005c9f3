/**
 * The message bus publishes the events of the engine to listeners. Only the store is authoritative: a message may be
 * lost or repeated, and a run that is offered on the bus is claimed like any other.
 */
import { dated, type Dated } from '../../time/dated.js'
import type { EngineEvents, EventName, Events } from '../../engine/events.js'

/** One event on the bus. */
export type BusMessage = {
  [Name in EventName]: { readonly name: Name; readonly event: Dated<EngineEvents[Name]> }
}[EventName]

/** A message bus. */
export interface Bus {
  /** Calls all listeners; neither waits nor throws. */
  publish(message: BusMessage): void

  /** Adds a listener; returns the function that removes it. */
  subscribe(hear: (message: BusMessage) => unknown): () => void

  /** Whether there are listeners; without any, messages need not be made. */
  readonly isHeard: boolean
}

/** A bus within one process. The error of a listener is reported and affects no other listener. */
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

/** Publishes all events on a bus from now on. */
export function publishEvents(events: Events, bus: Bus): void {
  events.onAll((event, name) => bus.publish({ name, event: dated(event) } as BusMessage))
}
