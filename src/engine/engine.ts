import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import { RotaError } from '../kernel/definition/errors.js'
import { roleNames, type Roles } from './role.js'
import type { Store } from '../store/port.js'
import type { ClockGuard } from './scheduler/clock-guard.js'
import { Draining } from './worker/draining.js'
import type { Events } from './events.js'
import type { FeatureLoop } from './feature-loop.js'
import { FeatureLoops, type BegunLoop } from './feature-loops.js'
import type { KeepAlive, KeepAliveOptions } from './worker/keep-alive.js'
import { backOffMs, isFull, Loop, type Look } from './loop.js'
import { ChangePoll } from './change-poll.js'
import type { ExecutableJob } from './worker/perform.js'
import { ErrorTracer } from './worker/error-tracer.js'
import { Scheduler } from './scheduler/scheduler.js'
import type { TriggerKinds } from './trigger-kind.js'
import { Upkeep } from './upkeep/upkeep.js'
import { Worker } from './worker/worker.js'

/** What an engine may change while it runs. */
export interface EngineLimits {
  /** How many runs it performs at once. */
  readonly concurrency: number
  /** How long final runs are kept. */
  readonly retentionMs: number
}

/** What an engine is made of. */
export interface EngineOptions extends EngineLimits {
  readonly store: Store
  readonly kinds: TriggerKinds
  readonly clock: Clock
  /** Says what counts as now. */
  readonly guard: ClockGuard
  readonly events: Events
  /** Traces errors that nobody caught; where it is absent, nobody asks. */
  readonly tracer?: ErrorTracer | undefined
  readonly roles: Roles
  readonly identity: { readonly host: string; readonly pid: number; readonly version: string }
  /** A name that no other worker has or had. */
  readonly newWorkerId: () => string
  readonly keepAlive: (options: KeepAliveOptions) => KeepAlive
  readonly executableJobs: () => Promise<ReadonlyMap<string, ExecutableJob>>
  /** What features run beside the scheduler. */
  readonly featureLoops?: readonly FeatureLoop[] | undefined
  readonly leaseMs: number
  /** The slow poll behind all hints. */
  readonly pollMs: number
  /** How often it is looked for workers that are gone: their runs are taken over within their lease plus this. */
  readonly upkeepMs: number
  /** Whether hours that are over are counted for the charts; default: true. */
  readonly countsHours?: boolean | undefined
  /** How long after its end a lease is taken for over, where the clocks of hosts may differ. */
  readonly leaseSlackMs?: number | undefined
}

/** The three loops, composed: the scheduler plans, the worker performs, upkeep takes over what is lost. */
export class Engine {
  readonly #options: EngineOptions
  readonly #tracer: ErrorTracer
  readonly #draining: Draining
  /** Under which it is known to the store. */
  #id: string | undefined
  /** The id before it, whose lease was lost. */
  #lost: string | undefined
  #worker: Worker | undefined
  /** Those that have lost their lease and may still offer what had ended. */
  #expired: readonly Worker[] = []
  #keepAlive: KeepAlive | undefined
  #employedMs = -Infinity
  /** When the store was last found full. */
  #fullMs = -Infinity
  #scheduler: Loop | undefined
  #upkeep: Loop | undefined
  #changes: ChangePoll | undefined
  readonly #featureLoops = new FeatureLoops((loop) => this.#begun(loop))
  /** What a reload may change. */
  #limits: EngineLimits
  readonly #undo: (() => void)[] = []
  #state: 'new' | 'running' | 'stopping' | 'stopped' = 'new'
  #hasFailed = false
  readonly #ending = new AbortController()
  /** The start, or the change from a worker whose lease was lost to a new one: what an end has to wait for. */
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

  /** Whether it runs and its worker, if it has one, can take work. */
  get isReady(): boolean {
    if (this.#state !== 'running' || this.#hasFailed || this.isDraining) return false
    return this.#options.roles.worker ? (this.#worker?.isReady ?? false) : true
  }

  /** Whether it is to take nothing more. */
  get isDraining(): boolean {
    return this.#draining.isOn
  }

  /** The id under which it is known, which changes when a lease was lost. */
  get workerId(): string | undefined {
    return this.#id
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new RotaError('ALREADY_STARTED', 'the engine was started already')
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
    this.#scheduler?.wake()
    this.#featureLoops.wake()
  }

  /** Goes on with other limits, loops and executable jobs; what runs is not touched. */
  async redefine(limits: EngineLimits, featureLoops: readonly FeatureLoop[]): Promise<void> {
    if (this.#state !== 'running') return
    this.#limits = { concurrency: limits.concurrency, retentionMs: limits.retentionMs }
    if (this.#id !== undefined) await this.#register(this.#id)
    if (this.#options.roles.scheduler) await this.#featureLoops.replace(featureLoops)
    this.#worker?.rereadJobs()
    this.wake()
  }

  /** Ends in order: no new plans and claims, a grace for what is going on, then what is left is released. */
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
    if (roles.worker) this.#upkeep = this.#loop('upkeep', this.#upkeepStep(), upkeepMs)
    this.#undo.push(store.watch((news) => (news === 'runs' ? this.wakeForRuns() : this.wake())))
    this.#scheduler?.start()
    if (roles.scheduler) this.#pollChanges()
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

  /** Makes this process known and keeps its lease. Also after a lease was lost: an id is never used again. */
  async #employ(): Promise<void> {
    const { store, clock, events, roles, leaseMs } = this.#options
    const id = this.#options.newWorkerId()
    const now = (): Instant => this.now()
    this.#employedMs = clock.monotonicMs()
    await this.#register(id, this.#lost)
    const onExpired = (): void => this.#lose(id)
    const onBeat = (isDraining: boolean): void => this.#heard(id, isDraining)
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

  /** Makes an id known to the store, or how many runs it takes from now on. */
  async #register(id: string, replaces?: string): Promise<void> {
    const { store, identity, roles, leaseMs } = this.#options
    const slots = roles.worker ? this.#limits.concurrency : 0
    const known = { id, replaces, ...identity, roles: roleNames(roles), slots }
    await store.register({ ...known, now: this.now(), leaseMs: Math.max(leaseMs, firstLeaseMs) })
  }

  #newWorker(id: string, onExpired: () => void): Worker {
    const { store, clock, events, executableJobs, pollMs } = this.#options
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

  /** While the store is full nobody can renew. Once there is room, everybody gets the time to do so before being judged. */
  #steadyMs(): number {
    const { guard, clock, leaseMs } = this.#options
    const roomMs = clock.monotonicMs() - this.#fullMs
    return roomMs <= leaseMs ? 0 : Math.min(guard.steadyMs(), roomMs)
  }

  /** What a beat of an id that was lost meanwhile says counts no more. */
  #heard(id: string, isDraining: boolean): void {
    if (this.#id === id && this.#state === 'running') this.#draining.heard(id, isDraining)
  }

  /** Who has lost its lease stops everything; while the engine runs, another one takes its place. */
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
    // What keeps a lease may fail each time at once: that must not become a new worker with every breath.
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
      onRuns: () => this.#worker?.wake(),
    })
    return async () => {
      // Runs that this process gave up are released before they are judged as lost.
      this.#expired = this.#expired.filter((one) => !one.isClosed)
      const submitted = this.#expired.map((one) =>
        within(clock, resubmitFirstMs, (over) => one.resubmit(over)),
      )
      await Promise.all(submitted)
      return await upkeep.step()
    }
  }

  /** One question for all loops where the store can answer it; otherwise each of them looks for itself. */
  #pollChanges(): void {
    const { store, clock, pollMs } = this.#options
    const { stamp } = store
    if (stamp === undefined) return
    const onChange = (): void => {
      this.#scheduler?.wake()
      this.#featureLoops.wake()
    }
    this.#changes = new ChangePoll({ stamp, clock, everyMs: pollMs, onChange })
    this.#changes.start()
  }

  /** How often the scheduler and the loops of features look although nothing has changed. */
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

/** How often loops look that are woken by every change. */
const unchangedMs = 30_000

/** How long what was told to stop may take to do so. */
const settleMs = 7000

/** How long submitting and releasing what is left may take. */
const submitMs = 5000

/** What keeps the lease may take a while to start; runs are still taken over within a lease plus this. */
const firstLeaseMs = 5000

/** How long upkeep waits for expired workers to resubmit their results first. */
const resubmitFirstMs = 1000

/** How soon a worker that has lost its lease may follow another. */
const replaceMs = 1000

/** Does something that stops waiting when the time is over. */
async function within(clock: Clock, ms: number, act: (over: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const cancel = clock.timer(ms, () => controller.abort())
  await act(controller.signal)
  cancel()
}
