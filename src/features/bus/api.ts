import { InProcessBus, publishEvents, type Bus, type BusMessage } from './messages.js'
import { refuse } from '../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../kernel/definition/faults.js'
import { readConcurrency, readName } from '../../kernel/definition/read-value.js'
import type { AppContext, StartingApp } from '../app-context.js'
import type { BusWork, Subscription } from './work.js'

/** `app.bus`: publishes all events, and offers runs that no worker claims to subscribers. */
export class AppBus {
  readonly #context: AppContext
  readonly #bus: Bus
  readonly #subscriptions = new Set<Subscription>()
  #isBridged = false
  #app: StartingApp | undefined
  #working: Promise<BusWork> | undefined
  #work: BusWork | undefined

  constructor(context: AppContext) {
    const { events } = context
    this.#context = context
    // Otherwise a listener that throws on the report of its own error would cause an endless loop.
    this.#bus = new InProcessBus((error, { name }) => {
      if (name !== 'trouble')
        events.emit('trouble', { where: `bus listener of ${name}`, error, retryInMs: 0 })
    })
    context.join({
      start: (app) => this.#start(app),
      wake: () => this.#work?.wake(),
      stop: (graceMs) => this.#stop(graceMs),
    })
  }

  /** Calls a function with each event; returns the function that ends this. */
  listen(hear: (message: BusMessage) => unknown): () => void {
    const end = this.#bus.subscribe(hear)
    this.#bridge()
    return end
  }

  /** Takes runs that nobody has claimed within `bus.offerAfter`; returns the function that ends this after the current runs. */
  subscribe(subscription: Subscription): () => Promise<void> {
    check(subscription)
    this.#subscriptions.add(subscription)
    this.#bridge()
    return async () => {
      this.#subscriptions.delete(subscription)
      await (await this.#working)?.remove(subscription)
    }
  }

  /** Offers begin now if somebody listens, else with the first listener. */
  async #start(app: StartingApp): Promise<void> {
    this.#app = app
    if (this.#isBridged) await this.#join(app)
  }

  /** Ends all subscriptions: runs in progress may finish within the grace period, the others are released. */
  async #stop(graceMs: number): Promise<void> {
    this.#app = undefined
    await (await this.#working)?.stop(graceMs)
    this.#working = undefined
    this.#work = undefined
  }

  /** Only with the first listener: messages without a listener would cost time in every run. */
  #bridge(): void {
    if (!this.#isBridged) publishEvents(this.#context.events, this.#bus)
    this.#isBridged = true
    if (this.#app !== undefined) void this.#join(this.#app)
  }

  async #join(app: StartingApp): Promise<void> {
    this.#working ??= this.#begin(app)
    const work = await this.#working
    for (const subscription of this.#subscriptions) work.add(subscription)
  }

  async #begin(app: StartingApp): Promise<BusWork> {
    // Loaded only now: most apps have no subscribers.
    const { BusWork } = await import('./work.js')
    const { clock, events, tracer, settings } = this.#context
    const upkeep = app.roles.worker ? undefined : app.upkeep
    const work = new BusWork({ ...settings, ...app, clock, events, tracer, bus: this.#bus, upkeep })
    work.start()
    this.#work = work
    return work
  }
}

function check({ jobs, commands, take, concurrency }: Subscription): void {
  const place = placeOf()
  if (jobs === undefined && commands === undefined)
    fault(place, 'it has neither jobs nor commands', 'jobs, commands')
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
