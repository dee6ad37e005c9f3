import type { Clock } from '../../time/clock.js'
import { Refusal } from '../problem.js'
import type { Identify } from './identify.js'

/** The default: far more than a dashboard or a program needs, and less than what keeps the server busy. */
const defaultPerSecond = 5000

/** A caller that was silent may send as many requests at once as this time allows. */
const burstMs = 1000

/** The most callers that are remembered; the one that was silent the longest is dropped first. */
const mostCallers = 10_000

/** Limits how many requests a caller may send in a second. */
export class RequestRate {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #perSecond: number
  /** When the requests of a caller would end if they were sent evenly. */
  readonly #endsAtMs = new Map<string, number>()

  constructor(clock: Pick<Clock, 'monotonicMs'>, perSecond = defaultPerSecond) {
    this.#clock = clock
    this.#perSecond = perSecond
  }

  /** Counts a request of a caller; refuses it if there were too many. */
  count(caller: string): void {
    const nowMs = this.#clock.monotonicMs()
    const endsAtMs = Math.max(this.#endsAtMs.get(caller) ?? 0, nowMs) + 1000 / this.#perSecond
    const earlyMs = endsAtMs - nowMs - burstMs
    if (earlyMs > 0) {
      const message = `too many requests of one caller; the limit is ${this.#perSecond} per second`
      const headers = { 'retry-after': String(Math.ceil(earlyMs / 1000)) }
      throw new Refusal('TOO_MANY_REQUESTS', message, { headers })
    }
    this.#endsAtMs.delete(caller)
    this.#endsAtMs.set(caller, endsAtMs)
    if (this.#endsAtMs.size <= mostCallers) return
    const [silent] = this.#endsAtMs.keys()
    this.#endsAtMs.delete(silent as string)
  }
}

/**
 * Identifies callers and counts their requests: by their name, since many may share the address of a proxy. Those
 * without a name are counted by address, also those that are refused. A request from the other process of the app was
 * counted there.
 */
export function counted(identify: Identify, rate: RequestRate): Identify {
  return async (request, connection, role) => {
    if (connection.caller !== undefined) return connection.caller
    try {
      const caller = await identify(request, connection, role)
      rate.count(caller.role === 'none' ? addressOf(connection) : `caller ${caller.actor}`)
      return caller
    } catch (error) {
      if (error instanceof Refusal && error.code !== 'TOO_MANY_REQUESTS') rate.count(addressOf(connection))
      throw error
    }
  }
}

/** The name under which requests from an address are counted. */
export function addressOf({ peer = '' }: { readonly peer?: string | undefined }): string {
  return `address ${peer}`
}
