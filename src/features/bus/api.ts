import { InProcessBus, publishEvents, type Bus, type BusMessage } from './messages.js'
import type { Events } from '../../engine/events.js'
import { refuse } from '../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../kernel/definition/faults.js'
import { readConcurrency, readName } from '../../kernel/definition/read-value.js'
import type { BusParts, BusWork, Subscription } from './work.js'

/** The message bus of an app: told of every event, and the way on which a run that no worker takes finds somebody who does. */
export class AppBus {
  readonly #events: Events
  readonly #bus: Bus
  readonly #subscriptions = new Set<Subscription>()
  #isBridged = false
  /** What a started app hands over. */
  #parts: Omit<BusParts, 'bus' | 'events'> | undefined
  #working: Promise<BusWork> | undefined
  #work: BusWork | undefined

  constructor(events: Events) {
    this.#events = events
    // A listener that fails at the news of a failure would otherwise fail for ever.
    this.#bus = new InProcessBus((error, { name }) => {
      if (name !== 'trouble')
        events.emit('trouble', { where: `bus listener of ${name}`, error, retryInMs: 0 })
    })
  }

  /** Hears of every event; gives the function that ends it. */
  listen(hear: (message: BusMessage) => unknown): () => void {
    const end = this.#bus.subscribe(hear)
    this.#bridge()
    return end
  }

  /** Offers to take runs that nobody has claimed for the time of `bus.offerAfter`; gives the function that ends the offer after what it is doing. */
  subscribe(subscription: Subscription): () => Promise<void> {
    check(subscription)
    this.#subscriptions.add(subscription)
    this.#bridge()
    return async () => {
      this.#subscriptions.delete(subscription)
      await (await this.#working)?.remove(subscription)
    }
  }

  /** Lets the offers begin, now or with the first who listens. */
  async start(parts: Omit<BusParts, 'bus' | 'events'>): Promise<void> {
    this.#parts = parts
    if (this.#isBridged) await this.#join(parts)
  }

  /** Something may have become claimable: what nobody takes is looked for soon. */
  wake(): void {
    this.#work?.wake()
  }

  /** Ends all subscriptions: what they are doing may finish within the grace, the rest is released. */
  async stop(graceMs: number): Promise<void> {
    this.#parts = undefined
    await (await this.#working)?.stop(graceMs)
    this.#working = undefined
    this.#work = undefined
  }

  /** Only with the first who listens: putting together what nobody hears would cost every run. */
  #bridge(): void {
    if (!this.#isBridged) publishEvents(this.#events, this.#bus)
    this.#isBridged = true
    if (this.#parts !== undefined) void this.#join(this.#parts)
  }

  async #join(parts: Omit<BusParts, 'bus' | 'events'>): Promise<void> {
    this.#working ??= this.#begin(parts)
    const work = await this.#working
    for (const subscription of this.#subscriptions) work.add(subscription)
  }

  async #begin(parts: Omit<BusParts, 'bus' | 'events'>): Promise<BusWork> {
    // Loaded only now: most apps have no subscribers.
    const { BusWork } = await import('./work.js')
    const work = new BusWork({ ...parts, bus: this.#bus, events: this.#events })
    work.start()
    this.#work = work
    return work
  }
}

function check({ jobs, commands, take, concurrency }: Subscription): void {
  const place = placeOf()
  if (jobs === undefined && commands === undefined)
    fault(place, 'nothing says what it takes', 'jobs, commands')
  checkNames(jobs, within(place, 'jobs'))
  checkNames(commands, within(place, 'commands'))
  if (typeof take !== 'function') fault(within(place, 'take'), `${shown(take)} is not a function`)
  readConcurrency(concurrency, within(place, 'concurrency'))
  refuse('the subscription', place.faults)
}

function checkNames(names: unknown, place: Place): void {
  if (names === undefined) return
  if (!Array.isArray(names) || names.length === 0)
    fault(place, `${shown(names)} is not a list of names`, "a list of names, or ['*'] for all")
  else names.forEach((name, index) => name === '*' || readName(name, within(place, index)))
}
