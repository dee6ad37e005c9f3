import type { Bus } from '../../engine/bus.js'
import type { ClockGuard } from '../../engine/clock-guard.js'
import type { Events } from '../../engine/events.js'
import { Loop } from '../../engine/loop.js'
import { Offers } from '../../engine/offers.js'
import type { RunContext } from '../../engine/perform.js'
import { toTask } from '../../engine/pool.js'
import { Taker } from '../../engine/taker.js'
import { Upkeep } from '../../engine/upkeep.js'
import type { Task } from '../../model/task.js'
import type { Store } from '../../store/store.js'
import type { Clock } from '../../time/clock.js'
import { newWorkerId, workerIdentity } from '../worker-identity.js'

/** Somebody's offer to take what no worker takes. */
export interface Subscription {
  /** The jobs whose runs it takes; `*` stands for all. */
  readonly jobs: readonly string[]
  /** Does the work of a run, as a handler would. */
  readonly take: (task: Task, run: RunContext) => unknown
  /** How many runs it takes at once; 1 unless said otherwise. */
  readonly concurrency?: number | undefined
}

/** What offering and taking needs of a started app. */
export interface BusParts {
  readonly bus: Bus
  readonly events: Events
  readonly store: Store
  readonly clock: Clock
  readonly guard: ClockGuard
  readonly leaseMs: number
  readonly offerAfterMs: number
}

/** How long what was told to stop may take to do so; after that its lease runs out. */
const settleMs = 7000

/** The bus of a started app at work: looks for runs to offer, and takes those that subscribers offered to take. */
export class BusWork {
  readonly #parts: BusParts
  readonly #loop: Loop
  readonly #takers = new Map<Subscription, { readonly taker: Taker; readonly end: () => void }>()

  constructor(parts: BusParts) {
    this.#parts = parts
    const { store, clock, guard, events, bus, leaseMs, offerAfterMs } = parts
    const now = (): number => guard.now()
    const offers = new Offers({ store, now, events, offerAfterMs })
    // A process without a worker has no other upkeep, and a subscriber that died must not keep its run for ever.
    const upkeep = new Upkeep({
      store,
      events,
      now,
      canJudgeLeases: () => guard.isSteadyFor(leaseMs),
      everyMs: offerAfterMs,
      keepMs: Infinity,
      onRuns: () => undefined,
    })
    this.#loop = new Loop({
      name: 'bus',
      seed: newWorkerId(),
      clock,
      events,
      pollMs: offerAfterMs,
      step: async () => {
        await upkeep.step()
        return bus.isHeard ? await offers.step() : { afterMs: offerAfterMs }
      },
    })
  }

  start(): void {
    this.#loop.start()
  }

  add(subscription: Subscription): void {
    if (this.#takers.has(subscription)) return
    const { bus, store, clock, events, leaseMs } = this.#parts
    const taker = new Taker({
      store,
      clock,
      events,
      leaseMs,
      identity: workerIdentity(),
      newWorkerId,
      jobs: subscription.jobs,
      concurrency: subscription.concurrency ?? 1,
      take: (run) => subscription.take(toTask(run), run),
    })
    const end = bus.subscribe((message) => {
      if (message.name === 'run:offered') taker.offer(message.event)
    })
    this.#takers.set(subscription, { taker, end })
  }

  /** Takes nothing more for a subscription, and waits for what it is doing. */
  async remove(subscription: Subscription): Promise<void> {
    const found = this.#takers.get(subscription)
    this.#takers.delete(subscription)
    found?.end()
    await found?.taker.stop(new AbortController().signal)
  }

  async stop(graceMs: number): Promise<void> {
    const { clock } = this.#parts
    const takers = [...this.#takers.values()]
    for (const { end } of takers) end()
    const graceOver = new AbortController()
    const done = new AbortController()
    const cancelGrace = clock.timer(graceMs, () => graceOver.abort())
    const ended = Promise.all([
      this.#loop.stop(),
      ...takers.map(({ taker }) => taker.stop(graceOver.signal)),
    ]).finally(() => done.abort())
    await Promise.race([ended, clock.sleep(graceMs + settleMs, done.signal)])
    cancelGrace()
  }
}
