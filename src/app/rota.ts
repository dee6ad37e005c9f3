import type { Coverage } from '../model/coverage.js'
import { ClockGuard } from '../engine/clock-guard.js'
import type { Engine } from '../engine/engine.js'
import { Events, type EngineEvents, type EventName } from '../engine/events.js'
import type { Handler, RunContext } from '../engine/perform.js'
import type { SyncReport } from '../engine/sync.js'
import type { StepFunction } from '../handlers/step-function.js'
import { why, type Why } from '../engine/why.js'
import type { JobInput, JobOptions, ScheduleOptions, TriggerInput } from '../model/define.js'
import { RotaError } from '../model/errors.js'
import type { Key } from '../model/faults.js'
import type { RunId } from '../model/identity.js'
import type { Attempt, Run } from '../model/run.js'
import type { StoredTrigger } from '../model/trigger.js'
import type { Enqueued, RunFilter, Store, StoredJob, StoredLogLine } from '../store/store.js'
import type { Clock } from '../time/clock.js'
import { parseDuration } from '../time/duration.js'
import type { Instant } from '../time/instant.js'
import { coverageReport } from './coverage-report.js'
import { addDefinitions, removeDefinition, storedJob, type Added, type Removed } from './definitions.js'
import { examine, type Finding } from './doctor.js'
import { newManualRun, newRun, readEnqueueOptions, type EnqueueOptions } from './enqueue.js'
import { holdOn, letGo, type HoldOptions } from './holds.js'
import { openStore, absoluteUrl } from './open-store.js'
import { OwnDefinitions } from './own-definitions.js'
import { Registry } from './registry.js'
import {
  readRotaOptions,
  type JobRef,
  type RotaOptions,
  type Settings,
  type StartOptions,
} from './rota-options.js'
import { cancelRun, findRun, retryRun, waitForRun } from './runs.js'
import { Witness } from './witness.js'

/** A durable scheduler: makes an app that is not started yet. */
export function rota(options: RotaOptions = {}): Rota {
  return new Rota(options, `code:${options.app ?? 'app'}`)
}

/** An app: what it defines, and everything that can be asked of its store. The store is opened when it is first needed. */
export class Rota {
  readonly #settings: Settings
  readonly #clock: Clock
  readonly #events = new Events()
  readonly #registry = new Registry()
  readonly #own: OwnDefinitions
  #opened: Promise<Store> | undefined
  /** The store once it is open, so that the hot path does not wait for a promise. */
  #open: Store | undefined
  #starting: Promise<SyncReport | undefined> | undefined
  #guard: ClockGuard | undefined
  #engine: Engine | undefined
  #witness: Witness | undefined
  readonly #ending = new AbortController()
  #closed: Promise<void> | undefined

  /** `source` is the name under which its definitions are kept, `where` tells where they were written; `rota()` fills them in. */
  constructor(options: RotaOptions, source: string, where?: (keys: readonly Key[]) => string) {
    this.#settings = readRotaOptions(options)
    this.#own = new OwnDefinitions(source, this.#registry, where)
    this.#clock = this.#settings.clock
    for (const queue of this.#settings.queues) this.#registry.addQueue(queue)
  }

  /** The address of the store, with its path made absolute. */
  get storeUrl(): string {
    return absoluteUrl(this.#settings.store, this.#directory)
  }

  get #directory(): string {
    return this.#settings.directory ?? process.cwd()
  }

  /** Defines a job as a function of this process. */
  job<Payload = unknown>(
    name: string,
    handler: (run: RunContext<Payload>) => unknown,
    options: JobOptions = {},
  ): JobRef<Payload> {
    return this.define(name, { ...options, handler })
  }

  /** Defines a job of any kind: a function, a command or a request. */
  define<Payload = unknown>(name: string, input: JobInput): JobRef<Payload> {
    this.#assertNotStarted('a job')
    this.#own.changed()
    return { name: this.#registry.addJob(name, input).name }
  }

  /** Defines when a job is due. */
  schedule(name: string, options: ScheduleOptions & { readonly job: string | JobRef<never> | JobRef }): void {
    this.#assertNotStarted('a trigger')
    const { job } = options
    this.#registry.addTrigger(name, { ...options, job: typeof job === 'string' ? job : job.name })
  }

  /** Registers a function that steps of pipelines use. */
  step(name: string, step: StepFunction): void {
    this.#assertNotStarted('a step')
    this.#registry.addStep(name, step)
  }

  /** Has the entries of a plan file performed when they are due; it is read at the start. */
  plan(path: string): void {
    this.#assertNotStarted('a plan')
    this.#registry.plans.push(path)
  }

  /** Hears of what happens in this process; gives the function that ends it. */
  on<Name extends EventName>(name: Name, listener: (event: EngineEvents[Name]) => void): () => void {
    return this.#events.on(name, listener)
  }

  /** Opens the store, writes the definitions, and lets the loops run. Tells what changed in the definitions. */
  async start(options: StartOptions = {}): Promise<SyncReport | undefined> {
    if (this.#starting !== undefined) throw new RotaError('ALREADY_STARTED', 'the app was started already')
    if (this.#ending.signal.aborted) throw this.#closedError()
    this.#starting = this.#begin(options)
    try {
      return await this.#starting
    } catch (error) {
      await this.#engine?.stop({ graceMs: 0 })
      this.#engine = undefined
      await this.#witness?.close()
      this.#starting = undefined
      throw error
    }
  }

  /** Ends in order: what is going on may finish within the grace, the rest is handed back; then closes the store. */
  async stop(options: { readonly grace?: string | number } = {}): Promise<void> {
    const graceMs = parseDuration(options.grace ?? '30s')
    this.#ending.abort()
    await this.#starting?.catch(() => undefined)
    await this.#engine?.stop({ graceMs })
    await this.close()
  }

  /** Closes the store, after what was asked of it; an app that runs hands back what it has at once. Nothing can be asked afterwards. */
  close(): Promise<void> {
    this.#ending.abort()
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Whether it was started and its worker, if it has one, can take work. */
  get isReady(): boolean {
    return this.#engine?.isReady ?? false
  }

  /** Records a run of a job. It is durable when the promise resolves; a taken unique key gives the run that has it. */
  async enqueue<Payload>(
    job: JobRef<Payload> | string,
    payload?: Payload,
    options: EnqueueOptions = {},
  ): Promise<Enqueued> {
    const [enqueued] = await this.enqueueMany(job, [payload], options)
    return enqueued as Enqueued
  }

  /** Records many runs of a job in one go, all with the same options. */
  async enqueueMany<Payload>(
    job: JobRef<Payload> | string,
    payloads: readonly (Payload | undefined)[],
    options: EnqueueOptions = {},
  ): Promise<readonly Enqueued[]> {
    const store = this.#open ?? (await this.store())
    if (!this.#own.areJobsWritten) await this.#own.writeJobs(store, this.now())
    const name = typeof job === 'string' ? job : job.name
    const definition = this.#registry.jobs.get(name)?.job ?? (await storedJob(store, name))
    const now = this.now()
    const terms = readEnqueueOptions(options, now)
    const runs = payloads.map((payload) => newRun({ job: definition, payload, terms, now }))
    const enqueued = store.enqueue({ runs, now })
    // At once, not after the commit: the worker's turn then joins it and claims the run in the same transaction.
    this.#engine?.wake()
    return await enqueued
  }

  /** Runs a trigger's job, or a job, now and by hand, beside everything that is scheduled. */
  async runNow(name: string, options: { readonly payload?: unknown } = {}): Promise<Enqueued> {
    const store = await this.store()
    if (!this.#own.areJobsWritten) await this.#own.writeJobs(store, this.now())
    const [trigger] = await store.triggers({ names: [name] })
    const job = await storedJob(store, trigger?.trigger.job ?? name)
    const now = this.now()
    const runs = [newManualRun({ job, trigger, payload: options.payload, now })]
    const enqueued = store.enqueue({ runs, now })
    this.#engine?.wake()
    return (await enqueued)[0] as Enqueued
  }

  /** Runs, newest first. */
  async runs(filter: Partial<RunFilter> = {}): Promise<readonly Run[]> {
    return await (await this.store()).runs({ limit: 50, ...filter })
  }

  /** One run, by its id or the beginning of it. */
  async run(id: string): Promise<Run> {
    return await findRun(await this.store(), id)
  }

  /** Every attempt of a run, oldest first. */
  async attempts(id: RunId): Promise<readonly Attempt[]> {
    return await (await this.store()).attempts(id)
  }

  /** The lines that a run wrote, after a sequence number. */
  async logs(
    id: RunId,
    options: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<readonly StoredLogLine[]> {
    const { after = 0, limit = 1000 } = options
    return await (await this.store()).logs({ run: id, after, limit })
  }

  /** Resolves when a run is final, or when the signal aborts; gives the run as it then is. */
  async wait(id: RunId, signal?: AbortSignal): Promise<Run> {
    return await waitForRun({ store: await this.store(), clock: this.#clock, id, signal })
  }

  /** Cancels a run: a waiting one at once, a running one as soon as its holder stops. */
  async cancel(id: string, reason = 'cancelled on request'): Promise<{ run: Run; requested: boolean }> {
    const cancelled = await cancelRun(await this.store(), { id, reason, now: this.now() })
    this.#engine?.wake()
    return cancelled
  }

  /** Gives a failed or cancelled run a fresh budget of attempts, now. */
  async retry(id: string): Promise<Run> {
    const retried = await retryRun(await this.store(), { id, now: this.now() })
    this.#engine?.wake()
    return retried
  }

  /** Stops a trigger's ticks; false where it was paused already. */
  async pause(trigger: string, options: HoldOptions = {}): Promise<boolean> {
    return await holdOn(await this.store(), { target: `trigger:${trigger}`, now: this.now(), ...options })
  }

  /** Lets a trigger tick again; what was due meanwhile stays skipped unless it is to be caught up. */
  async resume(trigger: string, options: { readonly catchUp?: boolean } = {}): Promise<boolean> {
    return await this.#release(`trigger:${trigger}`, options.catchUp ?? false)
  }

  /** Stops claims from a queue. */
  async pauseQueue(queue: string, options: HoldOptions = {}): Promise<boolean> {
    return await holdOn(await this.store(), { target: `queue:${queue}`, now: this.now(), ...options })
  }

  /** Lets a queue be claimed from again. */
  async resumeQueue(queue: string): Promise<boolean> {
    return await this.#release(`queue:${queue}`, false)
  }

  /** Stops all ticks and claims everywhere; what runs goes on. */
  async freeze(options: HoldOptions = {}): Promise<boolean> {
    return await holdOn(await this.store(), { target: 'all', now: this.now(), ...options })
  }

  /** Ends a freeze. */
  async thaw(options: { readonly catchUp?: boolean } = {}): Promise<boolean> {
    return await this.#release('all', options.catchUp ?? false)
  }

  /** Turns a stored kill switch off for every process. */
  async switchOff(name: 'pipeline' | 'scheduler' | 'worker', options: HoldOptions = {}): Promise<boolean> {
    return await holdOn(await this.store(), { target: `switch:${name}`, now: this.now(), ...options })
  }

  /** Turns a stored kill switch on again. */
  async switchOn(name: 'pipeline' | 'scheduler' | 'worker'): Promise<boolean> {
    return await this.#release(`switch:${name}`, false)
  }

  /** Defines jobs and triggers at run time, beside those from code and config. */
  async add(input: {
    readonly jobs?: Readonly<Record<string, JobInput>>
    readonly triggers?: Readonly<Record<string, TriggerInput>>
    readonly replace?: boolean
  }): Promise<Added> {
    const accept = (name: string, handler: Handler): void => this.#registry.addHandler(name, handler)
    const added = await addDefinitions(await this.store(), { ...input, now: this.now(), accept })
    this.#engine?.wake()
    return added
  }

  /** Ends a trigger, or forgets a job, that was added at run time. Waiting runs are cancelled, history stays. */
  async remove(name: string): Promise<Removed> {
    return await removeDefinition(await this.store(), { name, now: this.now() })
  }

  /** All triggers, by name. */
  async triggers(): Promise<readonly StoredTrigger[]> {
    return await (await this.store()).triggers()
  }

  /** All jobs, by name. */
  async jobs(): Promise<readonly StoredJob[]> {
    return await (await this.store()).jobs()
  }

  /** What became of a trigger's due instants in a stretch of time. */
  async why(trigger: string, window: { readonly from: Date; readonly until?: Date }): Promise<Why> {
    const fromAt = window.from.getTime()
    const untilAt = (window.until ?? window.from).getTime()
    return await why(await this.store(), { trigger, fromAt, untilAt, now: this.now() })
  }

  /** Computes the due instants anew and compares them with the ledger: of one trigger, or of all. */
  async coverage(
    options: { readonly trigger?: string; readonly since?: Date } = {},
  ): Promise<readonly Coverage[]> {
    return await coverageReport(await this.store(), options)
  }

  /** Looks for what is wrong, and says what to do about it. */
  async doctor(options: { readonly deep?: boolean } = {}): Promise<readonly Finding[]> {
    return await examine({ store: await this.store(), clock: this.#clock, deep: options.deep ?? false })
  }

  /** The store itself, opened when it is first asked for. */
  async store(): Promise<Store> {
    if (this.#ending.signal.aborted && this.#starting === undefined) throw this.#closedError()
    this.#opened ??= this.#openStore()
    return await this.#opened
  }

  /** What counts as now for what this app writes. */
  now(): Instant {
    return this.#guard?.now() ?? this.#clock.now()
  }

  async #openStore(): Promise<Store> {
    const { durability, create } = this.#settings
    try {
      const options = { clock: this.#clock, durability, directory: '/', create }
      this.#open = await openStore(this.storeUrl, options)
      return this.#open
    } catch (error) {
      // What failed once may succeed the next time: a lock is freed, a directory is made.
      this.#opened = undefined
      throw error
    }
  }

  async #begin(options: StartOptions): Promise<SyncReport | undefined> {
    const roles = { scheduler: true, worker: true, ...options.roles }
    const store = await this.store()
    this.#witness = await Witness.open({
      store,
      clock: this.#clock,
      accept: options.acceptStore ?? false,
      onWentBack: (error) => this.#events.emit('fatal', { where: 'store', error }),
    })
    const guard = await ClockGuard.open(store, this.#clock, { acceptClock: options.acceptClock ?? false })
    await guard.confirmed(({ kind, byMs }) => this.#events.emit('clock', { kind, byMs }), this.#ending.signal)
    if (this.#ending.signal.aborted) throw this.#closedError()
    this.#guard = guard
    const directory = this.#directory
    const report = await this.#own.write(store, { directory, roles, now: guard.now() })
    const { storeUrl } = this
    const shared = { events: this.#events, registry: this.#registry, settings: this.#settings }
    // Loaded only now: most commands ask the store and never start.
    const { newEngine } = await import('./new-engine.js')
    this.#engine = newEngine({ ...shared, store, storeUrl, guard, roles, directory })
    await this.#engine.start()
    // They are in the store now, and a start that failed would have needed them again.
    this.#registry.triggers.clear()
    return report
  }

  async #close(): Promise<void> {
    await this.#starting?.catch(() => undefined)
    await this.#engine?.stop({ graceMs: 0 })
    await this.#witness?.close()
    const store = await this.#opened?.catch(() => undefined)
    await store?.close()
  }

  #closedError(): RotaError {
    return new RotaError('STORE_CLOSED', 'the app was used after it was closed')
  }

  async #release(target: Parameters<typeof letGo>[1]['target'], catchUp: boolean): Promise<boolean> {
    const released = await letGo(await this.store(), { target, now: this.now(), catchUp })
    this.#engine?.wake()
    return released
  }

  #assertNotStarted(what: string): void {
    if (this.#starting === undefined) return
    throw new RotaError('ALREADY_STARTED', `${what} cannot be defined by code after the start; use app.add()`)
  }
}
