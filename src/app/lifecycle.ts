import type { Engine } from '../engine/engine.js'
import type { Events } from '../engine/events.js'
import type { ClockGuard } from '../engine/scheduler/clock-guard.js'
import type { Registry } from '../engine/sync/registry.js'
import type { SyncReport } from '../engine/sync/sync.js'
import type { ErrorTracer } from '../engine/worker/error-tracer.js'
import type { AppPart, StartingApp } from '../features/app-context.js'
import { RotaError } from '../kernel/definition/errors.js'
import type { Store } from '../store/port.js'
import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import type { DefinitionWatch } from './definitions/definition-watch.js'
import type { OwnDefinitions } from './definitions/own-definitions.js'
import { loopTimes } from './process/loop-times.js'
import { ProcessRecord } from './process/process-record.js'
import type { ReadAgain } from './reload/read-again.js'
import type { ReloadLoop } from './reload/reload-loop.js'
import type { Settings, StartOptions } from './rota-options.js'
import { AppStore } from './store/app-store.js'
import type { Tracing } from './tracing/tracing.js'
import { isOnManyHosts } from '../formats/store-url.js'

/** The parts of an app before its start. */
export interface LifecycleOptions {
  readonly settings: Settings
  readonly storeUrl: () => string
  readonly directory: string
  readonly clock: Clock
  readonly events: Events
  readonly tracer: ErrorTracer
  readonly tracing: Tracing
  readonly registry: Registry
  readonly own: OwnDefinitions
  /** The program that defines the app, if it is known. */
  readonly program: string | undefined
  /** Reads the config of the app again; absent if there is none. */
  readonly readAgain: ReadAgain | undefined
}

/** Opens the store of an app, starts the engine and the parts of features, and stops them again. */
export class Lifecycle {
  readonly #options: LifecycleOptions
  readonly #parts: AppPart[] = []
  readonly #ending = new AbortController()
  readonly #store: AppStore
  #starting: Promise<SyncReport | undefined> | undefined
  #guard: ClockGuard | undefined
  #engine: Engine | undefined
  #record: ProcessRecord | undefined
  #definitions: DefinitionWatch | undefined
  #reloads: ReloadLoop | undefined
  /** The current settings; a reload may change them. */
  #settings: Settings
  #closed: Promise<void> | undefined

  constructor(options: LifecycleOptions) {
    this.#options = options
    this.#settings = options.settings
    const { storeUrl, clock, events, settings } = options
    const { durability, create, reader } = settings
    const { signal } = this.#ending
    this.#store = new AppStore({ url: storeUrl, durability, create, clock, events, signal, reader })
  }

  get isStarted(): boolean {
    return this.#starting !== undefined
  }

  get isReady(): boolean {
    return this.#engine?.isReady ?? false
  }

  get settings(): Settings {
    return this.#settings
  }

  /** The definitions of the app. */
  get own(): OwnDefinitions {
    return this.#options.own
  }

  /** The store if it is already open. */
  get opened(): Store | undefined {
    return this.#store.opened
  }

  /** Why the store may only be read, if so. */
  wentBack(): Promise<RotaError | undefined> {
    return this.#store.wentBack()
  }

  async store(): Promise<Store> {
    if (this.#ending.signal.aborted && this.#starting === undefined) throw closedError()
    return await this.#store.open()
  }

  now(): Instant {
    return this.#guard?.now() ?? this.#options.clock.now()
  }

  join(part: AppPart): void {
    this.#parts.push(part)
  }

  /** Makes the engine and all parts look immediately, because something may be due or claimable. */
  wake(): void {
    this.#engine?.wake()
    for (const part of this.#parts) part.wake?.()
    this.#reloads?.wake()
  }

  /** The same after runs were recorded, without waking the scheduler. */
  wakeForRuns(): void {
    this.#engine?.wakeForRuns()
    for (const part of this.#parts) part.wake?.()
  }

  async start(options: StartOptions): Promise<SyncReport | undefined> {
    if (this.#starting !== undefined) throw new RotaError('ALREADY_STARTED', 'the app was already started')
    if (this.#ending.signal.aborted) throw closedError()
    this.#starting = this.#start(options)
    try {
      return await this.#starting
    } catch (error) {
      await this.#stopRunning(0)
      await this.#closeParts()
      this.#engine = undefined
      await this.#record?.remove()
      await this.#store.unwatch()
      this.#starting = undefined
      throw error
    }
  }

  async stop(graceMs: number): Promise<void> {
    this.#ending.abort()
    await this.#starting?.catch(() => undefined)
    await this.#stopRunning(graceMs)
    await this.close()
  }

  close(): Promise<void> {
    this.#ending.abort()
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #start(options: StartOptions): Promise<SyncReport | undefined> {
    const { own, registry, events, directory } = this.#options
    const roles = { scheduler: true, worker: true, ...options.roles }
    const store = await this.#store.openToWrite(options.acceptStore ?? false)
    this.#store.watch()
    const guard = await this.#openGuard(store, options.acceptClock ?? false)
    const record = this.#newRecord(store, roles.scheduler ? own.digest : '')
    // Before anything is written, so that a process that sees these definitions also sees their owner.
    if (roles.scheduler) await record.tell(undefined)
    const beforeEnding = (names: readonly string[]): Promise<void> => this.#beforeEnding(record, names)
    const report = await own.write(store, { directory, roles, now: guard.now(), beforeEnding })
    const app = this.#startingApp({ store, guard, roles })
    for (const part of this.#parts) await part.prepare?.(app)
    // Loaded on demand: most commands only read the store and never start an engine.
    const { newEngine } = await import('./new-engine.js')
    const onFunctions = (names: readonly string[]): void => void record.tell(names)
    this.#engine = await newEngine({
      ...this.#options,
      storeUrl: this.#options.storeUrl(),
      store,
      guard,
      roles,
      onFunctions,
    })
    const engine = this.#engine
    await engine.start()
    if (!roles.worker) onFunctions([])
    for (const part of this.#parts) await part.start?.(app)
    if (events.has('definitions')) await this.#watchDefinitions(app)
    // They are in the store now; a failed start would have needed them again.
    registry.triggers.clear()
    await this.#takeReloads({ app, record, engine })
    return report
  }

  async #beforeEnding(record: ProcessRecord, names: readonly string[]): Promise<void> {
    const { checkReplaced } = await import('./process/replaced.js')
    const { own, program, events } = this.#options
    checkReplaced({ source: own.source, program, names, others: await record.others() }, events)
  }

  /** Starts to handle requests to reload the config. */
  async #takeReloads(started: { app: StartingApp; record: ProcessRecord; engine: Engine }): Promise<void> {
    const { readAgain, registry, own, directory, clock, events } = this.#options
    if (readAgain === undefined) return
    const { app, record, engine } = started
    const { store } = app
    const { ReloadLoop } = await import('./reload/reload-loop.js')
    const fixed = { app, engine, parts: this.#parts, registry, own, directory, clock, readAgain }
    this.#reloads = new ReloadLoop({
      store,
      clock,
      events,
      now: () => this.now(),
      source: own.source,
      process: record.name,
      reload: async (options) => {
        const { reload } = await import('./reload/reload.js')
        const running = {
          ...fixed,
          settings: this.#settings,
          storeUrl: this.#options.storeUrl(),
          tellDefinitions: (digest: string) => record.redefine(digest),
          beforeEnding: (names: readonly string[]) => this.#beforeEnding(record, names),
        }
        const { report, settings } = await reload(running, options)
        this.#settings = settings
        return report
      },
    })
    this.#reloads.start()
  }

  async #openGuard(store: Store, acceptClock: boolean): Promise<ClockGuard> {
    const { clock, events } = this.#options
    const { ClockGuard } = await import('../engine/scheduler/clock-guard.js')
    const history = isOnManyHosts(store.url) ? undefined : 'kept'
    const guard = await ClockGuard.open(store, clock, { acceptClock, history })
    await guard.confirmed(({ kind, byMs }) => events.emit('clock', { kind, byMs }), this.#ending.signal)
    if (this.#ending.signal.aborted) throw closedError()
    this.#guard = guard
    return guard
  }

  #newRecord(store: Store, definitions: string): ProcessRecord {
    const { own, program, clock, readAgain } = this.#options
    const owner = { source: own.source, definitions, program, reloads: readAgain !== undefined }
    this.#record = new ProcessRecord(store, { ...owner, clock, now: () => this.now() })
    return this.#record
  }

  #startingApp(app: Pick<StartingApp, 'store' | 'guard' | 'roles'>): StartingApp {
    const { pollMs, upkeepMs, leaseSlackMs } = loopTimes(this.#options.settings)
    return {
      ...app,
      pollMs,
      upkeep: { everyMs: upkeepMs, leaseSlackMs },
      isDraining: () => this.#engine?.isDraining ?? false,
      sources: new Set(),
    }
  }

  /** Only if there is a listener: most apps know their definitions. */
  async #watchDefinitions({ store, sources }: StartingApp): Promise<void> {
    const { DefinitionWatch } = await import('./definitions/definition-watch.js')
    const { clock, events } = this.#options
    this.#definitions = new DefinitionWatch({ store, clock, events, sources })
    await this.#definitions.start()
  }

  async #close(): Promise<void> {
    await this.#starting?.catch(() => undefined)
    await this.#stopRunning(0)
    await this.#closeParts()
    await this.#record?.remove()
    await this.#store.close()
  }

  async #stopRunning(graceMs: number): Promise<void> {
    const parts = this.#parts.map((part) => part.stop?.(graceMs))
    await Promise.all([this.#reloads?.stop(), this.#engine?.stop({ graceMs }), ...parts])
  }

  async #closeParts(): Promise<void> {
    await Promise.all([this.#definitions?.stop(), ...this.#parts.map((part) => part.close?.())])
  }
}

function closedError(): RotaError {
  return new RotaError('STORE_CLOSED', 'the app was used after it was closed')
}
