import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import { RotaError } from '../kernel/definition/errors.js'
import type { News } from '../store/hint.js'
import { roleNames } from './role.js'
import { Draining } from './worker/draining.js'
import type { EngineLimits, EngineOptions } from './engine-options.js'
import type { FeatureLoop } from './feature-loop.js'
import { FeatureLoops, type BegunLoop } from './feature-loops.js'
import type { KeepAlive } from './worker/keep-alive.js'
import { backOffMs, isFull, Loop, type Look } from './loop.js'
import { ChangePoll } from './change-poll.js'
import { ErrorTracer } from './worker/error-tracer.js'
import { Scheduler } from './scheduler/scheduler.js'
import { Upkeep } from './upkeep/upkeep.js'
import { Worker } from './worker/worker.js'

/** The three loops together: the scheduler plans, the worker performs, upkeep takes over lost runs. */
export class Engine {
  readonly #options: EngineOptions
  readonly #tracer: ErrorTracer
  readonly #draining: Draining
  /** The worker id that the store knows. */
  #id: string | undefined
  /** The previous id, whose lease was lost. */
  #lost: string | undefined
  #worker: Worker | undefined
  /** Workers that have lost their lease and may still resubmit finished results. */
  #expired: readonly Worker[] = []
  #keepAlive: KeepAlive | undefined
  #employedMs = -Infinity
  /** When its lease was last renewed. */
  #beatAt: Instant = -Infinity
  /** When the store was last found full. */
  #fullMs = -Infinity
  #scheduler: Loop | undefined
  #upkeep: Loop | undefined
  #changes: ChangePoll | undefined
  readonly #featureLoops = new FeatureLoops((loop) => this.#begun(loop))
  /** The limits that a reload may change. */
  #limits: EngineLimits
  readonly #undo: (() => void)[] = []
  #state: 'new' | 'running' | 'stopping' | 'stopped' = 'new'
  #hasFailed = false
  readonly #ending = new AbortController()
  /** The start, or the replacement of a worker that lost its lease: a stop waits for it. */
  #changing: Promise<void> | undefined
  #ended: Promise<void> | undefined

  constructor(options: EngineOptions) {
    this.#options = options
    this.#limits = options
    const { clock, events } = options
    this.#tracer = options.tracer ?? new ErrorTracer()
    const holding = (): number => this.#worker?.holding ?? 0
    this.#draining = new Draining({ clock, events, holding, onUndrained: () => this.wake() })
  }

  /** What counts as now for everything this engine writes. */
  now(): Instant {
    return this.#options.guard.now()
  }

  /** Whether it runs and its worker, if it has one, can claim runs. */
  get isReady(): boolean {
    if (this.#state !== 'running' || this.#hasFailed || this.isDraining) return false
    return this.#options.roles.worker ? (this.#worker?.isReady ?? false) : true
  }

  /** Whether it drains. */
  get isDraining(): boolean {
    return this.#draining.isOn
  }

  /** Its current worker id, which changes when a lease was lost. */
  get workerId(): string | undefined {
    return this.#id
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new RotaError('ALREADY_STARTED', 'the engine was already started')
    this.#state = 'running'
    this.#changing = this.#begin()
    await this.#changing
  }

  /** Something may be claimable: the worker looks now. */
  wakeForRuns(): void {
    this.#worker?.wakeForRuns()
  }

  /** Something may be due or claimable: look now. */
  wake(): void {
    this.#worker?.wake()
    this.#wakeOthers()
  }

  /** Continues with other limits, loops and executable jobs; running attempts are not interrupted. */
  async redefine(limits: EngineLimits, featureLoops: readonly FeatureLoop[]): Promise<void> {
    if (this.#state !== 'running') return
    this.#limits = { concurrency: limits.concurrency, retentionMs: limits.retentionMs }
    if (this.#id !== undefined) await this.#register(this.#id)
    if (this.#options.roles.scheduler) await this.#featureLoops.replace(featureLoops)
    this.#worker?.rereadJobs()
    this.wake()
  }

  /** Stops in order: no new plans and claims, a grace period for running attempts, then the rest is released. */
  stop(options: { graceMs: number }): Promise<void> {
    this.#ended ??= this.#end(options.graceMs)
    return this.#ended
  }

  async #begin(): Promise<void> {
    const { store, events, guard, roles, upkeepMs } = this.#options
    this.#undo.push(events.on('fatal', () => this.#fail()))
    this.#undo.push(guard.onAccepted((at) => this.#keepAlive?.accept(at)))
    this.#undo.push(events.on('trouble', ({ error }) => isFull(error) && this.#noteFull()))
    if (roleNames(roles).length > 0) await this.#employ()
    if (this.#ending.signal.aborted || this.#hasFailed) return
    if (roles.scheduler) this.#scheduler = this.#loop('scheduler', this.#scheduleStep(), this.#restMs)
    if (roles.worker)
      this.#upkeep = this.#loop('upkeep', this.#upkeepStep(), Math.max(upkeepMs, this.#restMs))
    this.#undo.push(store.watch((news) => this.#hinted(news)))
    this.#scheduler?.start()
    if (roles.scheduler || roles.worker) this.#pollChanges()
    if (roles.scheduler) await this.#featureLoops.replace(this.#options.featureLoops ?? [])
    this.#upkeep?.start()
    this.#worker?.wake()
  }

  async #end(graceMs: number): Promise<void> {
    this.#state = 'stopping'
    this.#ending.abort()
    await this.#changing?.catch(() => undefined)
    for (const undo of this.#undo) undo()
    this.#draining.stop()
    this.#changes?.stop()
    // All at once: a loop that waits for the store must not let the worker continue to claim.
    const loops = [this.#scheduler?.stop(), this.#upkeep?.stop(), this.#featureLoops.stop()]
    const submitted = this.#expired.map((worker) => this.#submitAll(worker))
    await Promise.all([...loops, ...submitted, this.#dismiss(graceMs)])
    this.#state = 'stopped'
  }

  async #dismiss(graceMs: number): Promise<void> {
    const { clock, store } = this.#options
    const [id, worker] = [this.#id, this.#worker]
    if (id === undefined) return
    await within(clock, graceMs, async (over) => worker?.drain(over))
    await within(clock, settleMs, async (over) => worker?.abort(over))
    await this.#submitAll(worker)
    await this.#keepAlive?.stop()
    await store.retire({ worker: id, now: this.now() }).catch(() => undefined)
  }

  async #submitAll(worker: Worker | undefined): Promise<void> {
    await within(this.#options.clock, submitMs, async (over) => worker?.submitAll(over))
  }

  /** The engine cannot continue: the listener decides what happens to the process. */
  #fail(): void {
    this.#hasFailed = true
    for (const worker of [...this.#expired, this.#worker]) worker?.abandon()
    this.#changes?.stop()
    void this.#scheduler?.stop()
    void this.#upkeep?.stop()
    this.#featureLoops.abandon()
  }

  /** Registers this process and keeps its lease. After a lost lease it takes a new id: an id is never used again. */
  async #employ(): Promise<void> {
    const { store, clock, events, roles, leaseMs } = this.#options
    const id = this.#options.newWorkerId()
    const now = (): Instant => this.now()
    this.#employedMs = clock.monotonicMs()
    await this.#register(id, this.#lost)
    const onExpired = (): void => this.#lose(id)
    const onBeat = (isDraining: boolean): void => this.#onHeartbeat(id, isDraining)
    const onFull = (): void => this.#noteFull()
    const onTrouble = (error: unknown): void =>
      events.emit('trouble', { where: 'lease', error, retryInMs: replaceMs })
    try {
      const keep = { worker: id, leaseMs, onExpired, onBeat, onFull, onTrouble }
      const keepAlive = this.#options.keepAlive(keep)
      keepAlive.start()
      this.#keepAlive = keepAlive
    } catch (error) {
      await store.retire({ worker: id, now: now() }).catch(() => undefined)
      throw error
    }
    this.#id = id
    if (roles.worker) this.#worker = this.#newWorker(id, onExpired)
  }

  /** Registers an id in the store, or changes its number of slots. */
  async #register(id: string, replaces?: string): Promise<void> {
    const { store, identity, roles, leaseMs } = this.#options
    const slots = roles.worker ? this.#limits.concurrency : 0
    const known = { id, replaces, ...identity, roles: roleNames(roles), slots }
    await store.register({ ...known, now: this.now(), leaseMs: Math.max(leaseMs, firstLeaseMs) })
  }

  #newWorker(id: string, onExpired: () => void): Worker {
    const { store, clock, events, executableJobs } = this.#options
    const pollMs = this.#restMs
    const concurrency = (): number => this.#limits.concurrency
    const tracer = this.#tracer
    const now = (): Instant => this.now()
    const onDue = (): void => this.#scheduler?.wake()
    const loop = { store, clock, now, events, tracer, pollMs }
    return new Worker({ id, ...loop, concurrency, executableJobs, onDue, onExpired })
  }

  #noteFull(): void {
    this.#fullMs = this.#options.clock.monotonicMs()
  }

  /** No worker can renew its lease while the store is full, so each gets time to renew before it is judged. */
  #steadyMs(): number {
    const { guard, clock, leaseMs } = this.#options
    const roomMs = clock.monotonicMs() - this.#fullMs
    return roomMs <= leaseMs ? 0 : Math.min(guard.steadyMs(), roomMs)
  }

  /** Handles a heartbeat; one of an id that was lost meanwhile is ignored. */
  #onHeartbeat(id: string, isDraining: boolean): void {
    if (this.#id !== id || this.#state !== 'running') return
    this.#draining.onHeartbeat(id, isDraining)
    const [beatAt, now] = [this.#beatAt, this.now()]
    this.#beatAt = now
    // If its lease was over meanwhile, it could claim nothing.
    if (now - beatAt > this.#options.leaseMs * lateBeat) this.#worker?.wakeForRuns()
  }

  /** Stops a worker that has lost its lease; while the engine runs, a new worker replaces it. */
  #lose(expired: string): void {
    if (this.#id !== expired) return
    const worker = this.#worker
    worker?.expire()
    if (this.#state !== 'running' || this.#hasFailed) return
    if (worker !== undefined) this.#expired = [...this.#expired, worker].filter((one) => !one.isClosed)
    this.#id = undefined
    this.#lost = expired
    this.#worker = undefined
    this.#options.events.emit('worker:expired', { worker: expired })
    this.#changing = this.#replace()
  }

  async #replace(): Promise<void> {
    const { events, clock } = this.#options
    await this.#keepAlive?.stop()
    // The heartbeat may fail immediately each time: that must not create new workers in a busy loop.
    const restMs = this.#employedMs + replaceMs - clock.monotonicMs()
    if (restMs > 0) await clock.sleep(restMs, this.#ending.signal)
    for (let failures = 1; !this.#ending.signal.aborted && !this.#hasFailed; failures++) {
      try {
        await this.#employ()
        this.wake()
        return
      } catch (error) {
        const retryInMs = backOffMs(failures, this.#seed)
        events.emit('trouble', { where: 'worker', error, retryInMs })
        await clock.sleep(retryInMs, this.#ending.signal)
      }
    }
  }

  #scheduleStep(): () => Promise<Look> {
    const { store, kinds, clock, guard, events } = this.#options
    const onRuns = (): void => this.#worker?.wake()
    const scheduler = new Scheduler({ store, kinds, clock, guard, events, onRuns })
    return () => this.#unlessDraining(() => scheduler.step())
  }

  #begun({ name, begin }: FeatureLoop): BegunLoop {
    const { store, clock, guard, events, pollMs, newWorkerId } = this.#options
    const shared = { store, clock, guard, events, tracer: this.#tracer, holder: newWorkerId(), pollMs }
    const onRuns = (): void => this.#worker?.wake()
    const running = begin({ ...shared, onRuns, wake: () => loop.wake() })
    const loop = this.#loop(name, () => this.#unlessDraining(() => running.step()), this.#restMs)
    return { loop, running }
  }

  #unlessDraining(step: () => Promise<Look>): Promise<Look> {
    return this.isDraining ? Promise.resolve({ afterMs: this.#options.pollMs }) : step()
  }

  #upkeepStep(): () => Promise<Look> {
    const { store, clock, events, leaseSlackMs, upkeepMs, countsHours } = this.#options
    const upkeep = new Upkeep({
      store,
      events,
      retentionMs: () => this.#limits.retentionMs,
      now: () => this.now(),
      steadyMs: () => this.#steadyMs(),
      leaseSlackMs,
      countsHours,
      everyMs: upkeepMs,
      woken: store.stamp === undefined ? undefined : { clock },
      onRuns: () => this.#worker?.wake(),
    })
    return async () => {
      // First release the runs that this process gave up, so that they are not judged as lost.
      this.#expired = this.#expired.filter((one) => !one.isClosed)
      const submitted = this.#expired.map((one) =>
        within(clock, resubmitFirstMs, (over) => one.resubmit(over)),
      )
      await Promise.all(submitted)
      return await upkeep.step()
    }
  }

  /** Wakes the worker at once, and the other loops after the stamp was read: they then see everything that it covers. */
  #hinted(news: News = 'anything'): void {
    if (news === 'runs') this.#worker?.hinted()
    if (news !== 'anything') return
    this.#worker?.wake()
    if (this.#changes === undefined) this.#wakeOthers()
    else void this.#changes.hinted().then(() => this.#wakeOthers())
  }

  #wakeOthers(): void {
    this.#scheduler?.wake()
    this.#featureLoops.wake()
    // Upkeep limits how often it looks.
    this.#upkeep?.wake()
  }

  /** One poll for all loops if the store has a stamp; otherwise each of them polls itself. */
  #pollChanges(): void {
    const { store, clock, pollMs } = this.#options
    const { stamp } = store
    if (stamp === undefined) return
    this.#changes = new ChangePoll({ stamp, clock, everyMs: pollMs, onChange: () => this.wake() })
    this.#changes.start()
  }

  /** How often worker, scheduler, upkeep and the loops of features look even if nothing has changed. */
  get #restMs(): number {
    const { store, pollMs } = this.#options
    return store.stamp === undefined ? pollMs : Math.max(pollMs, unchangedMs)
  }

  #loop(name: string, step: () => Promise<Look>, pollMs: number): Loop {
    const { clock, events } = this.#options
    return new Loop({ name, seed: `${this.#seed}:${name}`, clock, events, pollMs, step })
  }

  get #seed(): string {
    const { host, pid } = this.#options.identity
    return `${host}:${pid}`
  }
}

/** A renewal that comes after more than this share of the lease may have been late; usually it is a third. */
const lateBeat = 2 / 3

/** The poll interval of loops that every change wakes. */
const unchangedMs = 30_000

/** How long aborted attempts may take to stop. */
const settleMs = 7000

/** How long submitting and releasing the remaining attempts may take. */
const submitMs = 5000

/** The heartbeat may take a while to start; runs are still taken over within a lease plus this time. */
const firstLeaseMs = 5000

/** How long upkeep waits for expired workers to resubmit their results first. */
const resubmitFirstMs = 1000

/** The shortest time between two replacements of a worker. */
const replaceMs = 1000

/** Calls a function with a signal that aborts after `ms`. */
async function within(clock: Clock, ms: number, act: (over: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const cancel = clock.timer(ms, () => controller.abort())
  await act(controller.signal)
  cancel()
}
