import { setMaxListeners } from 'node:events'
import type { Bus } from './messages.js'
import type { ClockGuard } from '../../engine/scheduler/clock-guard.js'
import type { Events } from '../../engine/events.js'
import { Loop, type Look } from '../../engine/loop.js'
import { Offers } from './offers.js'
import type { ErrorTracer } from '../../engine/worker/error-tracer.js'
import type { RunContext } from '../../engine/worker/perform.js'
import { toTask } from '../../engine/worker/pool.js'
import { Taker } from './taker.js'
import { Upkeep } from '../../engine/upkeep/upkeep.js'
import type { Task } from '../../kernel/run/task.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import { newWorkerId, workerIdentity } from '../../handlers/worker-identity.js'
import type { StartingApp } from '../app-context.js'
import { isUnclaimedJob, takerName, unclaimedJob } from '../../engine/worker/command-run.js'

/** A subscriber that takes runs which no worker claims. */
export interface Subscription {
  /** The jobs whose runs it takes; `*` stands for all. Either jobs or commands must be given. */
  readonly jobs?: readonly string[] | undefined
  /** The commands that it takes if no app does; `*` stands for all. */
  readonly commands?: readonly string[] | undefined
  /** Does the work of a run, like a handler. */
  readonly take: (task: Task, run: RunContext) => unknown
  /** How many runs it performs concurrently; default: 1. */
  readonly concurrency?: number | undefined
}

/** What the bus needs of a started app. */
export interface BusParts {
  readonly bus: Bus
  readonly events: Events
  readonly tracer: ErrorTracer
  readonly store: Store
  readonly clock: Clock
  readonly guard: ClockGuard
  readonly leaseMs: number
  readonly offerAfterMs: number
  /** The slow poll behind all hints. */
  readonly pollMs: number
  /** Whether this process must not take new work. */
  readonly isDraining: () => boolean
  /** How dead workers are looked for; undefined if the engine does that already. */
  readonly upkeep: StartingApp['upkeep'] | undefined
}

/** How long stopped runs may take to end; after that their leases expire. */
const settleMs = 7000

/** Offers runs and performs them for subscribers, while the app is started. */
export class BusWork {
  readonly #parts: BusParts
  readonly #offers: Loop
  readonly #upkeep: Loop | undefined
  readonly #undo: (() => void)[] = []
  readonly #takers = new Map<Subscription, { readonly taker: Taker; readonly end: () => void }>()

  constructor(parts: BusParts) {
    this.#parts = parts
    const { store, clock, guard, events, bus, offerAfterMs, pollMs } = parts
    const now = (): number => guard.now()
    const offers = new Offers({ store, clock, now, events, offerAfterMs, pollMs })
    const step = (): Promise<Look> => (bus.isHeard ? offers.step() : Promise.resolve({ afterMs: pollMs }))
    this.#offers = new Loop({ name: 'bus', seed: newWorkerId(), clock, events, pollMs, step })
    this.#upkeep = parts.upkeep === undefined ? undefined : this.#upkeepLoop(parts.upkeep)
  }

  start(): void {
    const { store, events } = this.#parts
    const wake = (): void => this.wake()
    this.#undo.push(
      store.watch(wake),
      events.on('tick', ({ runs }) => runs.length > 0 && wake()),
      events.on('run:ended', ({ state }) => state === 'pending' && wake()),
      events.on('run:lost', wake),
    )
    this.#offers.start()
    this.#upkeep?.start()
  }

  /** Looks soon, because a run may have become claimable. */
  wake(): void {
    this.#offers.wake()
  }

  add(subscription: Subscription): void {
    if (this.#takers.has(subscription)) return
    const { bus, store, clock, guard, events, tracer, leaseMs, isDraining } = this.#parts
    const taker = new Taker({
      store,
      clock,
      now: () => guard.now(),
      events,
      tracer,
      leaseMs,
      identity: workerIdentity(),
      newWorkerId,
      takes: (job) => isTaken(job, subscription),
      concurrency: subscription.concurrency ?? 1,
      take: (run) => subscription.take(toTask(run), run),
    })
    const end = bus.subscribe((message) => {
      if (message.name === 'run:offered' && !isDraining()) taker.offer(message.event)
    })
    this.#takers.set(subscription, { taker, end })
  }

  /** Takes nothing more for a subscription, and waits for its current runs. */
  async remove(subscription: Subscription): Promise<void> {
    const found = this.#takers.get(subscription)
    this.#takers.delete(subscription)
    found?.end()
    await found?.taker.stop(new AbortController().signal)
  }

  async stop(graceMs: number): Promise<void> {
    const { clock } = this.#parts
    const takers = [...this.#takers.values()]
    for (const undo of this.#undo) undo()
    for (const { end } of takers) end()
    const graceOver = new AbortController()
    // Each subscription listens to it.
    setMaxListeners(0, graceOver.signal)
    const done = new AbortController()
    const cancelGrace = clock.timer(graceMs, () => graceOver.abort())
    const ended = Promise.all([
      this.#offers.stop(),
      this.#upkeep?.stop(),
      ...takers.map(({ taker }) => taker.stop(graceOver.signal)),
    ]).finally(() => done.abort())
    await Promise.race([ended, clock.sleep(graceMs + settleMs, done.signal)])
    cancelGrace()
  }

  /** A process without a worker has no other upkeep, and the run of a dead subscriber must be reclaimed. */
  #upkeepLoop({ everyMs, leaseSlackMs }: StartingApp['upkeep']): Loop {
    const { store, clock, guard, events } = this.#parts
    const upkeep = new Upkeep({
      store,
      events,
      now: () => guard.now(),
      steadyMs: () => guard.steadyMs(),
      leaseSlackMs,
      everyMs,
      retentionMs: () => Infinity,
      onRuns: () => undefined,
    })
    const step = (): Promise<Look> => upkeep.step()
    return new Loop({ name: 'bus upkeep', seed: newWorkerId(), clock, events, pollMs: everyMs, step })
  }
}

/** Whether a subscription takes the runs of a job. Claims are by job, so that each command has a job of its own. */
function isTaken(job: string, { jobs = [], commands = [] }: Subscription): boolean {
  if (jobs.includes('*') || jobs.includes(job)) return true
  if (commands.includes('*')) return isUnclaimedJob(job) || job === takerName
  return commands.some((command) => job === command || job === unclaimedJob(command))
}
