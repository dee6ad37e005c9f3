import { Events, type EngineEvents, type EventName } from '../engine/events.js'
import type { Why } from '../engine/explain/why.js'
import { namedCalendars } from '../engine/sync/calendars.js'
import { Registry, twice } from '../engine/sync/registry.js'
import type { SyncReport } from '../engine/sync/sync.js'
import { ErrorTracer } from '../engine/worker/error-tracer.js'
import type { Handler, RunContext } from '../engine/worker/perform.js'
import { appPool, type AppPool } from './api/pool.js'
import type { AppContext } from '../features/app-context.js'
import type { AppFeature, Feature } from '../features/feature.js'
import * as features from '../features/index.js'
import { stepFunctions, type StepFunction } from '../handlers/pipeline/step-function.js'
import type { StoredAuditEntry } from '../kernel/audit/audit.js'
import { readInstants, type InstantInput } from '../kernel/definition/read-instant.js'
import {
  defineJob,
  functionOf,
  jobOptionNames,
  type JobInput,
  type JobOptions,
} from '../kernel/job/define-job.js'
import type { JobRef, WithPayload } from '../kernel/job/job-ref.js'
import { payloadSchemas, type PayloadSchema, type SchemaInput } from '../kernel/job/payload-schema.js'
import type { CoverageReport } from '../kernel/ledger/coverage.js'
import {
  defineTrigger,
  type JobSchedule,
  type ScheduleOptions,
  type TriggerInput,
} from '../kernel/trigger/define-trigger.js'
import type { Store } from '../store/port.js'
import { dated } from '../time/dated.js'
import { parseDuration } from '../time/duration.js'
import type { Instant } from '../time/instant.js'
import { hold, release, type ReleaseOptions } from './api/holds.js'
import type { HistoryFilter } from './api/history.js'
import { DefinitionsApi } from './api/definitions.js'
import { Backfills } from './api/backfills.js'
import { Jobs } from './api/jobs.js'
import { Queues } from './api/queues.js'
import { Runs } from './api/runs.js'
import { Switches } from './api/switches.js'
import { Triggers } from './api/triggers.js'
import { Workers } from './api/workers.js'
import { Tracing } from './tracing/tracing.js'
import { bordered, type Bordered } from './with-dates.js'
import { newContext } from './context.js'
import type { HoldOptions } from './control/holds.js'
import type { Origin } from './definitions/origin.js'
import { OwnDefinitions } from './definitions/own-definitions.js'
import { splitSchema, type SchemaJob } from './definitions/schema-job.js'
import type { Finding } from './doctor/doctor.js'
import { loadTriggerKinds } from './features.js'
import { Lifecycle } from './lifecycle.js'
import { traceErrors, type ErrorTrace } from '../engine/worker/error-trace.js'
import { codeAppName, mainProgram } from './process/program.js'
import type { EngineEvents as PublicEvents } from './public-types.js'
import { readRotaOptions, type RotaOptions, type Settings, type StartOptions } from './rota-options.js'
import type { EnqueueOptions } from './runs/enqueue.js'
import { EnqueuedRun } from './runs/enqueued-run.js'
import { Enqueuer } from './runs/enqueuer.js'
import type { SimulateOptions } from './simulate/app-simulation.js'
import type { SimulationResult } from './simulate/simulate.js'
import { absoluteUrl } from '../formats/store-url.js'
import { clockFor } from './store/store-address.js'
import type { Address } from '../server/listen.js'
import { appHandler, type AppHandler, type HandlerOptions, type ListenOptions } from './serve/app-handler.js'

/** An app: its definitions, and everything that its store can do. Each feature adds the object with its name. */
export interface Rota extends Omit<Bordered<App>, 'on' | 'now'> {
  /** Listens to events of this process; returns the function that stops listening. */
  on<Name extends EventName>(name: Name, listener: (event: PublicEvents[Name]) => void): () => void
  /** The current time by the clock that this app writes with. */
  now(): Date
}

/** The same app inside the program, where instants are Unix milliseconds. */
export interface App extends AppRoot, FeatureApis {}

type Features = typeof features

/** The objects of the features, by name. */
export type FeatureApis = {
  readonly [Name in keyof Features as Features[Name] extends AppFeature ? Name : never]: ApiOf<Features[Name]>
}

type ApiOf<One> = One extends { readonly api: (context: AppContext) => infer Api } ? Api : never

/** The options of `app.cron`: those of its job and of its schedule. */
export type CronOptions = JobOptions &
  Omit<ScheduleOptions, 'cron' | 'every' | 'after' | 'anchor' | 'immediate' | 'at'>

/** Creates an app without starting it. */
export function rota(options: RotaOptions = {}): Rota {
  const name = options.app ?? codeAppName(options.directory)
  const app = createApp(options, `code:${name}`, { program: mainProgram() })
  return Object.assign(bordered<App>(app), {
    [inside]: app,
    on: (name, listener) => app.on(name, (event) => listener(dated(event) as PublicEvents[typeof name])),
    now: () => new Date(app.now()),
  } satisfies Pick<Rota, 'on' | 'now'> & { [inside]: App })
}

const inside: unique symbol = Symbol.for('rota.inside')

/** The inner app of a `Rota`, which may come from another copy of this package; undefined for anything else. */
export function insideOf(value: unknown): App | undefined {
  return typeof value === 'object' && value !== null && inside in value ? (value[inside] as App) : undefined
}

/** Creates an app whose definitions belong to a source. */
export function createApp(options: RotaOptions, source: string, origin?: Origin): App {
  return composeApp(readRotaOptions(options), source, origin).app
}

/** Composes an app from its parts; a config registers its definitions through the context. */
export function composeApp(
  settings: Settings,
  source: string,
  { program, where, author = { by: source, via: 'code' }, readAgain }: Origin = {},
): { readonly app: App; readonly context: AppContext } {
  const directory = settings.directory ?? process.cwd()
  // On demand: a bad address fails the calls that need the store, not the creation of an app.
  const storeUrl = (): string => absoluteUrl(settings.store, directory)
  const clock = clockFor(settings.store, settings.clock)
  const [events, tracer, registry] = [new Events(), new ErrorTracer(), new Registry()]
  for (const queue of settings.queues) registry.addQueue(queue)
  const own = new OwnDefinitions(source, registry, where)
  const tracing = new Tracing()
  const base = { settings, source, directory, storeUrl, clock, events, tracer, tracing, registry }
  const lifecycle = new Lifecycle({ ...base, own, program, readAgain })
  const enqueuer = new Enqueuer({ ...base, author, own, lifecycle })
  const context = newContext({ ...base, author, lifecycle, enqueuer })
  const app = new AppRoot(context, { lifecycle, enqueuer, own })
  const apis = Object.entries(features).flatMap(([name, feature]: [string, Feature | AppFeature]) =>
    'api' in feature ? [[name, feature.api(context)]] : [],
  )
  return { app: Object.assign(app, Object.fromEntries(apis) as FeatureApis), context }
}

interface AppParts {
  readonly lifecycle: Lifecycle
  readonly enqueuer: Enqueuer
  readonly own: OwnDefinitions
}

/** The part of an app that belongs to no feature. The store is opened when it is first needed. */
class AppRoot {
  readonly runs: Runs
  readonly triggers: Triggers
  readonly backfills: Backfills
  readonly jobs: Jobs
  readonly queues: Queues
  readonly switches: Switches
  readonly workers: Workers
  readonly definitions: DefinitionsApi
  readonly pool: AppPool
  readonly #context: AppContext
  readonly #lifecycle: Lifecycle
  readonly #enqueuer: Enqueuer

  constructor(context: AppContext, { lifecycle, enqueuer, own }: AppParts) {
    this.definitions = new DefinitionsApi(context, own)
    this.#context = context
    this.#lifecycle = lifecycle
    this.#enqueuer = enqueuer
    this.runs = new Runs(context)
    this.triggers = new Triggers(context, enqueuer)
    this.backfills = new Backfills(context)
    this.jobs = new Jobs(context, enqueuer)
    this.queues = new Queues(context)
    this.switches = new Switches(context)
    this.workers = new Workers(context)
    this.pool = appPool(context)
  }

  /** The functions that pipeline steps call, by name. */
  get pipelineSteps(): ReadonlyMap<string, StepFunction> {
    return this.#context.definitions.part(stepFunctions)
  }

  /** The address of the store, with an absolute path. */
  get storeUrl(): string {
    return this.#context.storeUrl
  }

  /** Whether `rota up` serves the HTTP API by default. */
  get isServed(): boolean {
    return this.#context.settings.serve !== false
  }

  /** Whether the app was started and its worker, if it has one, can claim runs. */
  get isReady(): boolean {
    return this.#lifecycle.isReady
  }

  /** Defines a job whose payload a schema checks and types. */
  job<Schema extends PayloadSchema, Result>(
    name: string,
    input: SchemaJob<Schema, Result>,
  ): JobRef<SchemaInput<Schema>, Awaited<Result>>
  /** Defines a job that a function of this process performs. */
  job<Payload = unknown, Result = unknown>(
    name: string,
    handler: (run: RunContext<Payload>) => Result,
    options?: JobOptions,
  ): JobRef<Payload, Awaited<Result>>
  /** Defines a job that a command, a request, a pipeline or a module performs. */
  job(name: string, input: JobInput): JobRef
  job(name: string, handler: Handler<never> | JobInput, options: JobOptions = {}): JobRef<never, never> {
    const { assertNotStarted, definitions } = this.#context
    assertNotStarted('a job')
    const given = typeof handler === 'function' ? { ...options, handler } : handler
    const { input, schema } = splitSchema(name, given)
    definitions.addJob(defineJob(name, input), functionOf(input))
    if (schema !== undefined) definitions.part(payloadSchemas).set(name, schema)
    return { name }
  }

  /** Defines a job and the cron trigger of the same name; the options are those of both. */
  cron<Result>(
    name: string,
    expression: string,
    handler: (run: RunContext) => Result,
    options: CronOptions = {},
  ): JobRef<unknown, Awaited<Result>> {
    const entries = Object.entries(options)
    // The SLA belongs to the trigger, as in a config.
    const isOfJob = ([key]: [string, unknown]): boolean =>
      key !== 'sla' && jobOptionNames.includes(key as keyof JobOptions)
    const schedule = Object.fromEntries(entries.filter((entry) => !isOfJob(entry)))
    // Before the job is added: a faulty expression adds nothing.
    const calendars = this.#context.definitions.part(namedCalendars)
    const trigger = defineTrigger(name, { ...schedule, cron: expression, job: name }, { calendars })
    const job = this.job(name, handler, Object.fromEntries(entries.filter(isOfJob)))
    this.#context.definitions.addTrigger(trigger)
    return job
  }

  /** Defines when a job is due: a trigger with its own name. */
  schedule<Payload>(name: string, options: JobSchedule<Payload>): void {
    const { assertNotStarted, definitions } = this.#context
    assertNotStarted('a trigger')
    const given = (options as typeof options | null)?.job
    const job = (typeof given === 'object' ? given?.name : given) as string
    const asset = definitions.jobs.get(job)?.job.asset
    const calendars = definitions.part(namedCalendars)
    definitions.addTrigger(defineTrigger(name, { ...options, job } as TriggerInput, { asset, calendars }))
  }

  /** Registers a function that pipeline steps call by its name. */
  pipelineStep(name: string, step: StepFunction): void {
    const { assertNotStarted, definitions } = this.#context
    assertNotStarted('a step')
    const steps = definitions.part(stepFunctions)
    if (steps.has(name)) throw twice('step', name)
    steps.set(name, step)
  }

  /** Listens to events of this process; returns the function that stops listening. */
  on<Name extends EventName>(name: Name, listener: (event: EngineEvents[Name]) => void): () => void {
    return this.#context.events.on(name, listener)
  }

  /** Records a run of a job. The run is durable when the promise resolves. If another run has the unique key, the result is that run. */
  async enqueue<Payload, Result = unknown>(
    job: JobRef<Payload, Result> | string,
    ...[payload, options = {}]: WithPayload<Payload, EnqueueOptions>
  ): Promise<EnqueuedRun<Result>> {
    const [enqueued] = await this.enqueueMany(job, [payload as Payload], options)
    return enqueued as EnqueuedRun<Result>
  }

  /** Records many runs of a job, all with the same options. */
  async enqueueMany<Payload, Result = unknown>(
    job: JobRef<Payload, Result> | string,
    payloads: readonly Payload[],
    options: EnqueueOptions = {},
  ): Promise<readonly EnqueuedRun<Result>[]> {
    const enqueued = await this.#enqueuer.enqueueMany(job, payloads, options)
    return enqueued.map((one) => new EnqueuedRun<Result>(one, this.#context.waitForRun))
  }

  /** Opens the store, writes the definitions and starts the loops. Returns what changed in the definitions. */
  async start(options: StartOptions = {}): Promise<SyncReport | undefined> {
    return await this.#lifecycle.start(options)
  }

  /** Stops the app: runs in progress may finish within the grace period, the others are released; then it closes the store. */
  async stop(options: { readonly grace?: string | number } = {}): Promise<void> {
    await this.#lifecycle.stop(parseDuration(options.grace ?? '30s'))
  }

  /** Closes the app and its store after pending calls; a running app releases its runs immediately. */
  close(): Promise<void> {
    return this.#lifecycle.close()
  }

  /** Explains the due instants of a trigger between two instants. */
  async why(
    trigger: string,
    window: { readonly from: InstantInput; readonly until?: InstantInput | undefined },
  ): Promise<Why> {
    const { from, until = from } = window
    const { from: fromAt = 0, until: untilAt = 0 } = readInstants('the time', { from, until })
    const { why } = await import('../engine/explain/why.js')
    const kinds = await loadTriggerKinds()
    return await why(await this.store(), { kinds, trigger, fromAt, untilAt, now: this.now() })
  }

  /** Compares the computed due instants with the ledger, for one trigger or all. */
  async coverage(
    options: { readonly trigger?: string | undefined; readonly since?: InstantInput | undefined } = {},
  ): Promise<readonly CoverageReport[]> {
    const { coverageReport } = await import('./explain/coverage-report.js')
    const { trigger, since } = options
    return await coverageReport(await this.store(), { trigger, ...readInstants('the time', { since }) })
  }

  /** Finds problems and says what to do about each. */
  async doctor(options: { readonly deep?: boolean } = {}): Promise<readonly Finding[]> {
    const { examine } = await import('./doctor/doctor.js')
    const store = await this.store()
    const wentBack = await this.#lifecycle.wentBack()
    return await examine({ store, clock: this.#context.clock, wentBack, deep: options.deep ?? false })
  }

  /** Simulates the next days: the real engine on a virtual clock. Handlers are not called; each run takes as long as earlier runs did. */
  async simulate(options: SimulateOptions = {}): Promise<SimulationResult> {
    const { simulateApp } = await import('./simulate/app-simulation.js')
    const { own } = this.#lifecycle
    const { directory, settings } = this.#context
    const { concurrency } = settings
    return await simulateApp(
      { store: () => this.store(), own, directory, concurrency, now: this.now() },
      options,
    )
  }

  /** Stops all ticks and claims in every process; runs in progress continue. False if it was already frozen. */
  async freeze(options: HoldOptions = {}): Promise<boolean> {
    return await hold(this.#context, 'all', options)
  }

  /** Ends a freeze. Instants that were due meanwhile stay skipped, unless `catchUp` is set. */
  async thaw(options: ReleaseOptions = {}): Promise<boolean> {
    return await release(this.#context, 'all', options)
  }

  /** Who changed what, newest first; at most 50 by default. */
  async history(filter: HistoryFilter = {}): Promise<readonly StoredAuditEntry[]> {
    const { history } = await import('./api/history.js')
    return await history(await this.store(), filter)
  }

  /** The HTTP API of this app as one function, to be mounted in a server. */
  handler(options: HandlerOptions): AppHandler {
    return appHandler(options, async () => {
      const { mount } = await import('./serve/mount.js')
      return await mount({ app: this as unknown as App, context: this.#context }, options)
    })
  }

  /** Serves the HTTP API on its own address until the app stops; the defaults are those of the app's option `serve`. */
  async listen(options: ListenOptions = {}): Promise<Address> {
    const { listen } = await import('./serve/listen.js')
    const { serve } = this.#context.settings
    const given = { ...(serve === false ? {} : serve), ...definedOf(options) }
    return await listen({ app: this as unknown as App, context: this.#context }, given)
  }

  /** Traces uncaught errors back to the run or sensor that caused them. It adds no listener to the process. */
  traceErrors(): ErrorTrace {
    return traceErrors(this.#context.tracer)
  }

  /** The store itself, opened on first use. */
  async store(): Promise<Store> {
    return await this.#lifecycle.store()
  }

  /** The current instant by the clock that this app writes with. */
  now(): Instant {
    return this.#lifecycle.now()
  }
}

function definedOf(options: ListenOptions): ListenOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
