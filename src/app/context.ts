import type { Events } from '../engine/events.js'
import { changeRecord, checkTag } from '../engine/audit-change.js'
import { performOperation } from '../engine/operations.js'
import { definitionFiles } from '../engine/sync/definition-files.js'
import type { Registry } from '../engine/sync/registry.js'
import type { ErrorTracer } from '../engine/worker/error-tracer.js'
import type { AppContext } from '../features/app-context.js'
import type { Author } from '../kernel/audit/change-options.js'
import { RotaError } from '../kernel/definition/errors.js'
import type { Enqueued } from '../store/port.js'
import { systemClock, type Clock } from '../time/clock.js'
import { pick } from '../wire/to-json.js'
import { loadHandlerExtensions } from './features.js'
import type { Lifecycle } from './lifecycle.js'
import type { Settings } from './rota-options.js'
import type { Enqueuer } from './runs/enqueuer.js'
import { waitForRun } from './runs/runs.js'

/** The parts of the context of an app. */
export interface ContextOptions {
  readonly settings: Settings
  readonly source: string
  readonly storeUrl: () => string
  readonly directory: string
  readonly clock: Clock
  readonly events: Events
  readonly tracer: ErrorTracer
  readonly registry: Registry
  readonly lifecycle: Lifecycle
  readonly enqueuer: Enqueuer
  readonly author: Author
}

/** The shared parts of an app's objects. Its functions do not need `this`. */
export function newContext(options: ContextOptions): AppContext {
  const { source, directory, clock, events, tracer, author } = options
  const { registry, lifecycle, enqueuer } = options
  const store: AppContext['store'] = () => lifecycle.store()
  return {
    get settings() {
      return pick(lifecycle.settings, ['concurrency', 'leaseMs', 'retentionMs', 'offerAfterMs', 'serve'])
    },
    source,
    directory,
    clock,
    author,
    events,
    tracer,
    definitions: registry,
    definitionFiles: async () =>
      (await options.settings.reader?.definitionFiles()) ?? registry.part(definitionFiles),
    get storeUrl() {
      return options.storeUrl()
    },
    get storeForReader() {
      const { clock: given, durability } = options.settings
      const url = options.storeUrl()
      return given === systemClock && /^(?:sqlite|postgres(?:ql)?):/.test(url)
        ? { url, durability }
        : undefined
    },
    get isStarted() {
      return lifecycle.isStarted
    },
    assertNotStarted: (what) => {
      if (!lifecycle.isStarted) return
      const message = `${what} cannot be defined by code after the start; use app.jobs.add() or app.triggers.add()`
      throw new RotaError('ALREADY_STARTED', message)
    },
    store,
    storeWithJobs: () => enqueuer.storeWithJobs(),
    now: () => lifecycle.now(),
    wake: () => lifecycle.wake(),
    change: async (asked, act) => {
      const isDry = asked.options.dryRun === true
      const { needsJobs = false, audit, options: given } = asked
      const answer = await performOperation(events, { ...asked, dryRun: isDry }, async () => {
        const now = lifecycle.now()
        const opened = await (needsJobs && !isDry ? enqueuer.storeWithJobs() : store())
        const audits = typeof audit === 'function' ? await audit(opened) : audit
        const record = changeRecord([audits].flat(), { options: given, author, now })
        if (!isDry) return await act(opened.audited(record), now)
        await checkTag(opened, record, now)
        return await act(await enqueuer.rehearsalStore(), now)
      })
      if (!isDry) lifecycle.wake()
      return answer
    },
    enqueue: async (job, given) => {
      const [enqueued] = await enqueuer.enqueueMany(job, [undefined], given)
      return enqueued as Enqueued
    },
    runNow: (trigger, given) => enqueuer.runTrigger(trigger, given),
    waitForRun: async (id, signal) => waitForRun({ store: await store(), clock, id, signal }),
    handlerExtensions: loadHandlerExtensions,
    listen: async (address, answer) => {
      const { HttpServer } = await import('../server/listen.js')
      const server = new HttpServer(answer, { clock })
      const bound = await server.listen(address)
      lifecycle.join({ stop: () => server.close() })
      return bound
    },
    join: (part) => lifecycle.join(part),
  }
}
