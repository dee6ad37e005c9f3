import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import { RotaError } from '../model/errors.js'
import type { Store } from '../store/store.js'
import { ClockGuard } from './clock-guard.js'
import type { Events } from './events.js'
import type { KeepAlive, KeepAliveOptions } from './keep-alive.js'
import { Loop, type Look } from './loop.js'
import type { Performable } from './perform.js'
import { scheduleStep } from './scheduler.js'
import { Upkeep } from './upkeep.js'
import { Worker } from './worker.js'

/** What an engine is made of. */
export interface EngineOptions {
  readonly store: Store
  readonly clock: Clock
  readonly events: Events
  readonly roles: Roles
  readonly identity: { readonly host: string; readonly pid: number; readonly version: string }
  /** A name that no other worker has or had. */
  readonly newWorkerId: () => string
  readonly keepAlive: (options: KeepAliveOptions) => KeepAlive
  readonly performables: () => Promise<ReadonlyMap<string, Performable>>
  readonly concurrency: number
  readonly leaseMs: number
  readonly keepMs: number
  /** The slow poll behind all hints. */
  readonly pollMs: number
  /** Believe the wall clock even if it is more than a year ahead of the store. */
  readonly acceptClock: boolean
}

/** Which of the loops run here. */
export interface Roles {
  readonly scheduler: boolean
  readonly worker: boolean
}

/** The three loops, composed: the scheduler plans, the worker performs, upkeep takes over what is lost. */
export class Engine {
  readonly #options: EngineOptions
  #guard: ClockGuard | undefined
  #worker: Worker | undefined
  #keepAlive: KeepAlive | undefined
  #scheduler: Loop | undefined
  #upkeep: Loop | undefined
  #unwatch: (() => void) | undefined
  #state: 'new' | 'running' | 'stopping' | 'stopped' = 'new'

  constructor(options: EngineOptions) {
    this.#options = options
  }

  get events(): Events {
    return this.#options.events
  }

  /** What counts as now for everything this engine writes. */
  now(): Instant {
    return this.#guard?.now() ?? this.#options.clock.now()
  }

  /** Whether it runs and its worker, if it has one, can take work. */
  get isReady(): boolean {
    return this.#state === 'running' && (this.#worker?.isReady ?? true)
  }

  /** The id of its worker, which changes when a lease was lost. */
  get workerId(): string | undefined {
    return this.#worker?.id
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new RotaError('ALREADY_STARTED', 'the engine was started already')
    this.#state = 'running'
    const { store, clock, roles, acceptClock } = this.#options
    const { highestAt } = await store.health({ now: clock.now() })
    this.#guard = new ClockGuard(clock, { highestAt, acceptClock })
    if (roles.worker) await this.#employ()
    if (roles.scheduler) this.#scheduler = this.#loop('scheduler', () => this.#schedule())
    if (roles.worker) this.#upkeep = this.#loop('upkeep', this.#upkeepStep())
    this.#unwatch = store.watch(() => this.wake())
    this.#scheduler?.start()
    this.#upkeep?.start()
    this.#worker?.wake()
  }

  /** Something may be due or claimable: look now. */
  wake(): void {
    this.#worker?.wake()
    this.#scheduler?.wake()
  }

  /** Ends in order: no new plans and claims, a grace for what is going on, then what is left is handed back. */
  async stop(options: { graceMs: number }): Promise<void> {
    if (this.#state !== 'running') return
    this.#state = 'stopping'
    const { clock, store } = this.#options
    this.#unwatch?.()
    await Promise.all([this.#scheduler?.stop(), this.#upkeep?.stop()])
    const worker = this.#worker
    if (worker !== undefined) {
      await within(clock, options.graceMs, (over) => worker.drain(over))
      await within(clock, settleMs, (over) => worker.abort(over))
      await this.#keepAlive?.stop()
      await store.retire({ worker: worker.id, now: this.now() }).catch(() => undefined)
    }
    this.#state = 'stopped'
  }

  /** Makes a new worker known and keeps its lease. Also after a lease was lost: an id is never used again. */
  async #employ(): Promise<void> {
    const { store, clock, events, identity, leaseMs, concurrency, performables, pollMs } = this.#options
    const id = this.#options.newWorkerId()
    const now = (): Instant => this.now()
    await store.register({ id, ...identity, now: now(), leaseMs })
    const onExpired = (): void => void this.#replace(id)
    this.#keepAlive = this.#options.keepAlive({ worker: id, leaseMs, onExpired })
    this.#worker = new Worker({ id, store, clock, now, events, concurrency, performables, pollMs, onExpired })
    this.#keepAlive.start()
  }

  async #replace(expired: string): Promise<void> {
    if (this.#state !== 'running' || this.#worker?.id !== expired) return
    const { events, clock } = this.#options
    const keepAlive = this.#keepAlive
    this.#worker.expire()
    this.#worker = undefined
    events.emit('worker:expired', { worker: expired })
    await keepAlive?.stop()
    while (this.#state === 'running') {
      try {
        await this.#employ()
        this.wake()
        return
      } catch (error) {
        events.emit('trouble', { where: 'worker', error, retryInMs: 1000 })
        await clock.sleep(1000)
      }
    }
  }

  #schedule(): Promise<Look> {
    const { store, events } = this.#options
    return scheduleStep({ store, events, guard: this.#guard as ClockGuard, onRuns: () => this.#worker?.wake() })
  }

  #upkeepStep(): () => Promise<Look> {
    const { store, events, keepMs, leaseMs } = this.#options
    const upkeep = new Upkeep({
      store,
      events,
      keepMs,
      now: () => this.now(),
      canJudgeLeases: () => (this.#guard as ClockGuard).isSteadyFor(leaseMs),
      worker: () => this.#worker?.id ?? '',
      // A dead worker's runs are taken over within its lease plus this.
      everyMs: leaseMs / 6,
      onRuns: () => this.#worker?.wake(),
    })
    return () => upkeep.step()
  }

  #loop(name: string, step: () => Promise<Look>): Loop {
    const { clock, events, pollMs } = this.#options
    return new Loop({ name, clock, events, pollMs, step })
  }
}

/** How long what was told to stop may take to do so. */
const settleMs = 7000

/** Does something that stops waiting when the time is over. */
async function within(clock: Clock, ms: number, act: (over: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const cancel = clock.timer(ms, () => controller.abort())
  await act(controller.signal)
  cancel()
}
