import { ClockGuard } from '../../engine/scheduler/clock-guard.js'
import type { Engine } from '../../engine/engine.js'
import { Events, type EngineEvents, type EventName } from '../../engine/events.js'
import { ErrorTracer } from '../../engine/worker/error-tracer.js'
import { Pool } from '../../engine/worker/pool.js'
import type { SyncReport } from '../../engine/sync/sync.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Roles } from '../../engine/role.js'
import { tooSeldom } from '../../features/rounds/check.js'
import type { ConfiguredApp } from '../../features/feature-config.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import { parseDuration } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'
import { AppBus } from '../../features/bus/api.js'
import type { CommandJobs } from '../../features/command-jobs/command-jobs.js'
import type { DefinitionWatch } from '../definitions/definition-watch.js'
import { traceErrors, type ErrorTrace } from '../../engine/worker/error-trace.js'
import type { JobsKeeper } from '../../features/command-jobs/keeper.js'
import type { UnclaimedCommands } from '../../features/command-jobs/unclaimed.js'
import { slowPollMs, upkeepTimes } from '../process/loop-times.js'
import { openStore, absoluteUrl, clockFor, isOnManyHosts } from '../store/open-store.js'
import { telling, type Asked } from '../../engine/operations.js'
import { OwnDefinitions, type Where } from '../definitions/own-definitions.js'
import { ProcessRecord } from '../process/process-record.js'
import { Registry } from '../../engine/sync/registry.js'
import { checkReplaced } from '../process/replaced.js'
import { readRotaOptions, type RotaOptions, type Settings, type StartOptions } from '../rota-options.js'
import { refuseWrites } from '../store/refuse-writes.js'
import { assertNotEmptied, Witness } from '../store/witness.js'

/** Where the definitions of an app come from. */
export interface Origin {
  /** The program that defines them, where it is known. */
  readonly program?: string | undefined
  /** Tells where a part of them was written. */
  readonly where?: Where | undefined
}

/** What every part of an app builds on: its settings, its store, its life from the start to the end. */
export abstract class RotaCore {
  protected readonly settings: Settings
  protected readonly clock: Clock
  protected readonly events = new Events()
  protected readonly tracer = new ErrorTracer()
  protected readonly registry = new Registry()
  protected readonly own: OwnDefinitions
  /** What the attempts of this process come to. */
  protected readonly pool = new Pool(this.events)
  /** Tells of every event, and offers what no worker takes to those who subscribed. */
  readonly bus = new AppBus(this.events)
  #opening: Promise<Store> | undefined
  #open: Store | undefined
  /** The same store before anything is refused. */
  #raw: Store | undefined
  #starting: Promise<SyncReport | undefined> | undefined
  #hasStarted = false
  #guard: ClockGuard | undefined
  #engine: Engine | undefined
  #witness: Witness | undefined
  #note: ProcessRecord | undefined
  #keeper: JobsKeeper | undefined
  #unclaimed: UnclaimedCommands | undefined
  #definitions: DefinitionWatch | undefined
  readonly #ending = new AbortController()
  #closed: Promise<void> | undefined

  readonly #program: string | undefined

  /** `source` is the name under which its definitions are kept; `rota()` fills in both. */
  constructor(options: RotaOptions, source: string, origin: Origin = {}) {
    this.settings = readRotaOptions(options)
    this.#program = origin.program
    this.own = new OwnDefinitions(source, this.registry, origin.where)
    this.clock = clockFor(this.settings.store, this.settings.clock)
    for (const queue of this.settings.queues) this.registry.addQueue(queue)
  }

  /** The address of the store, with its path made absolute. */
  get storeUrl(): string {
    return absoluteUrl(this.settings.store, this.directory)
  }

  /** What a config registers with; not for users. */
  get configured(): ConfiguredApp {
    const { registry: definitions, clock, directory, storeUrl } = this
    return { definitions, clock, directory, storeUrl }
  }

  protected get directory(): string {
    return this.settings.directory ?? process.cwd()
  }

  /** Hears of what happens in this process; gives the function that ends it. */
  on<Name extends EventName>(name: Name, listener: (event: EngineEvents[Name]) => void): () => void {
    return this.events.on(name, listener)
  }

  /** Traces errors that nobody catches back to the run or sensor they come from. It sets no listener of the process. */
  traceErrors(): ErrorTrace {
    return traceErrors(this.tracer)
  }

  /** Opens the store, writes the definitions, and lets the loops run. Tells what changed in the definitions. */
  async start(options: StartOptions = {}): Promise<SyncReport | undefined> {
    if (this.#starting !== undefined) throw new RotaError('ALREADY_STARTED', 'the app was started already')
    if (this.#ending.signal.aborted) throw this.#closedError()
    this.#starting = this.#begin(options)
    try {
      return await this.#starting
    } catch (error) {
      await Promise.all([this.#engine?.stop({ graceMs: 0 }), this.bus.stop(0), this.#stopLoops()])
      this.#engine = undefined
      await this.#note?.remove()
      await this.#witness?.unwatch()
      this.#starting = undefined
      throw error
    }
  }

  /** Ends in order: what is going on may finish within the grace, the rest is released; then closes the store. */
  async stop(options: { readonly grace?: string | number } = {}): Promise<void> {
    const graceMs = parseDuration(options.grace ?? '30s')
    this.#ending.abort()
    await this.#starting?.catch(() => undefined)
    await Promise.all([this.#engine?.stop({ graceMs }), this.bus.stop(graceMs)])
    await this.close()
  }

  /** Closes the store, after what was asked of it; an app that runs releases what it has at once. Nothing can be asked afterwards. */
  close(): Promise<void> {
    this.#ending.abort()
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Whether it was started and its worker, if it has one, can take work. */
  get isReady(): boolean {
    return this.#engine?.isReady ?? false
  }

  /** The store itself, opened when it is first asked for. */
  async store(): Promise<Store> {
    if (this.#ending.signal.aborted && this.#starting === undefined) throw this.#closedError()
    this.#opening ??= this.#openStore()
    return await this.#opening
  }

  /** What counts as now for what this app writes. */
  now(): Instant {
    return this.#guard?.now() ?? this.clock.now()
  }

  async #openStore(): Promise<Store> {
    const { clock, storeUrl } = this
    const { durability, create } = this.settings
    let store: Store | undefined
    try {
      assertNotEmptied(storeUrl)
      const onCommit = (commit: number): void => this.#witness?.see(commit)
      const { signal } = this.#ending
      store = await openStore(storeUrl, { clock, durability, directory: '/', create, onCommit, signal })
      const onWentBack = (error: RotaError): void => this.events.emit('fatal', { where: 'store', error })
      this.#witness = await Witness.open({ store, clock, durability, onWentBack })
      this.#raw = store
      const wentBack = this.#witness?.wentBack
      this.#open = wentBack === undefined ? store : refuseWrites(store, wentBack)
      return this.#open
    } catch (error) {
      // What failed once may succeed the next time: a lock is freed, a directory is made.
      this.#opening = undefined
      await store?.close().catch(() => undefined)
      throw error
    }
  }

  /** The store as something that may be written to; one that went back in time only where that is accepted. */
  async #writableStore(acceptStore: boolean): Promise<Store> {
    const store = await this.store()
    const wentBack = this.#witness?.wentBack
    if (wentBack === undefined || this.#raw === undefined) return store
    if (!acceptStore) throw wentBack
    this.#witness?.accept()
    this.#open = this.#raw
    this.#opening = Promise.resolve(this.#raw)
    return this.#raw
  }

  async #begin(options: StartOptions): Promise<SyncReport | undefined> {
    const roles = { scheduler: true, worker: true, ...options.roles }
    const store = await this.#writableStore(options.acceptStore ?? false)
    this.#witness?.watch()
    const message = this.#witness?.trouble
    if (message !== undefined) {
      const told = { operation: 'start', target: 'witness', outcome: 'warning', details: { message } }
      this.events.emit('operation', told)
    }
    this.events.on('fatal', ({ error }) => {
      if (error instanceof RotaError && error.code === 'STORE_WENT_BACK') this.#witness?.refuse()
    })
    const guard = await ClockGuard.open(store, this.clock, {
      acceptClock: options.acceptClock ?? false,
      history: isOnManyHosts(store.url) ? undefined : 'kept',
    })
    await guard.confirmed(({ kind, byMs }) => this.events.emit('clock', { kind, byMs }), this.#ending.signal)
    if (this.#ending.signal.aborted) throw this.#closedError()
    this.#guard = guard
    const directory = this.directory
    const note = this.#newNote(store, roles)
    this.#note = note
    // Before anything is written, so that whoever sees these definitions sees whose they are.
    if (roles.scheduler) await note.tell(undefined)
    const beforeEnding = async (names: readonly string[]): Promise<void> => {
      const { source } = this.own
      checkReplaced({ source, program: this.#program, names, others: await note.others() }, this.events)
    }
    const report = await this.own.write(store, { directory, roles, now: guard.now(), beforeEnding })
    if (roles.scheduler) this.warnOfRounds([...this.registry.triggers.values()])
    if (roles.scheduler) await this.#keepJobs()
    const { storeUrl } = this
    const { clock, events, tracer, registry, settings } = this
    const shared = { events, tracer, registry, settings }
    // Loaded only now: most commands ask the store and never start.
    const { newEngine } = await import('../new-engine.js')
    const onFunctions = (names: readonly string[]): void => void note.tell(names)
    this.#engine = await newEngine({
      ...shared,
      store,
      storeUrl,
      clock,
      guard,
      roles,
      directory,
      onFunctions,
    })
    await this.#engine.start()
    if (!roles.worker) onFunctions([])
    this.#keeper?.start()
    const { leaseMs, offerAfterMs } = this.settings
    if (roles.worker) await this.#failUnclaimed(store)
    if (this.events.has('definitions')) await this.#tellDefinitions(store)
    const upkeep = roles.worker ? undefined : upkeepTimes(storeUrl, leaseMs)
    const isDraining = (): boolean => this.#engine?.isDraining ?? false
    const times = { leaseMs, offerAfterMs, pollMs: slowPollMs }
    await this.bus.start({ store, clock, guard, tracer, ...times, upkeep, isDraining })
    // They are in the store now, and a start that failed would have needed them again.
    this.registry.triggers.clear()
    this.#hasStarted = true
    return report
  }

  #newNote(store: Store, roles: Roles): ProcessRecord {
    const { source, digest } = this.own
    const definitions = roles.scheduler ? digest : ''
    const { clock } = this
    return new ProcessRecord(store, {
      source,
      definitions,
      program: this.#program,
      clock,
      now: () => this.now(),
    })
  }

  /** The command jobs of the store, or of the file that is used in place. */
  protected async commandJobs(): Promise<CommandJobs> {
    const { CommandJobs } = await import('../../features/command-jobs/command-jobs.js')
    const { storeUrl, clock } = this
    return new CommandJobs({ store: await this.store(), storeUrl, clock, path: this.registry.jobsFile })
  }

  /** Looks at the jobs once before anything is planned: what performs a command may have changed since. */
  async #keepJobs(): Promise<void> {
    const { JobsKeeper } = await import('../../features/command-jobs/keeper.js')
    const { clock, events } = this
    const onChange = (): void => this.wake()
    const jobs = await this.commandJobs()
    this.#keeper = new JobsKeeper({ jobs, clock, events, now: () => this.now(), onChange })
    await this.#keeper.look()
  }

  /** Runs of commands that nobody takes are left to the bus, and fail where it finds nobody either. */
  async #failUnclaimed(store: Store): Promise<void> {
    const { UnclaimedCommands } = await import('../../features/command-jobs/unclaimed.js')
    const { clock, events } = this
    const { leaseMs, offerAfterMs } = this.settings
    const now = (): Instant => this.now()
    this.#unclaimed = new UnclaimedCommands({ store, clock, now, events, leaseMs, offerAfterMs })
    this.#unclaimed.start()
  }

  /** Only where somebody listens: most apps know what they define. */
  async #tellDefinitions(store: Store): Promise<void> {
    const { DefinitionWatch } = await import('../definitions/definition-watch.js')
    const { clock, events } = this
    const alsoFrom = (await this.commandJobs()).place?.source
    this.#definitions = new DefinitionWatch({ store, clock, events, alsoFrom })
    await this.#definitions.start()
  }

  async #close(): Promise<void> {
    await this.#starting?.catch(() => undefined)
    await Promise.all([this.#engine?.stop({ graceMs: 0 }), this.bus.stop(0)])
    await this.#stopLoops()
    this.pool.close()
    await this.#note?.remove()
    const store = await this.#opening?.catch(() => undefined)
    await this.#witness?.unwatch()
    await store?.close()
    this.#witness?.close()
  }

  async #stopLoops(): Promise<void> {
    await Promise.all([this.#keeper?.stop(), this.#unclaimed?.stop(), this.#definitions?.stop()])
  }

  #closedError(): RotaError {
    return new RotaError('STORE_CLOSED', 'the app was used after it was closed')
  }

  /** Whether its start is complete. */
  protected get hasStarted(): boolean {
    return this.#hasStarted
  }

  /** Why the store may only be looked at, once that is so. */
  protected get wentBack(): RotaError | undefined {
    return this.#witness?.wentBack
  }

  /** The store once it is open, so that the hot path does not wait for a promise. */
  protected get opened(): Store | undefined {
    return this.#open
  }

  /** Something may be due or claimable: the engine and the bus, if they run here, look at once. */
  protected wake(): void {
    this.#engine?.wake()
    this.bus.wake()
  }

  /** Runs were recorded: whoever may take them, if they are here, looks at once. */
  protected wakeForRuns(): void {
    this.#engine?.wakeForRuns()
    this.bus.wake()
  }

  /** Does what is asked, and tells of it. */
  protected async tell<Answer>(asked: Asked<Answer>, act: () => Promise<Answer>): Promise<Answer> {
    return await telling(this.events, asked, act)
  }

  /** Tells of services that are due more often than their round checks. */
  protected warnOfRounds(triggers: readonly Trigger[]): void {
    for (const trigger of triggers) {
      const message = tooSeldom(trigger)
      const target = trigger.name
      if (message !== undefined)
        this.events.emit('operation', {
          operation: 'define round',
          target,
          outcome: 'warning',
          details: { message },
        })
    }
  }

  /** Whether it was started: what is defined from now on is defined at run time. */
  protected get isStarted(): boolean {
    return this.#starting !== undefined
  }

  protected assertNotStarted(what: string): void {
    if (this.#starting === undefined) return
    throw new RotaError('ALREADY_STARTED', `${what} cannot be defined by code after the start; use app.add()`)
  }
}
