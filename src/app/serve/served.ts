/** Composes the server of an app: its routes, its stream, its metrics, and who may call them. */
import { z } from 'zod'
import type { AppContext } from '../../features/app-context.js'
import { packageVersion } from '../../formats/version.js'
import { SignInAttempts } from '../../server/access/attempts.js'
import { identifier, type Identify } from '../../server/access/identify.js'
import { KnownEntries } from '../../server/access/known-entries.js'
import { counted, RequestRate } from '../../server/access/request-rate.js'
import { dispatcher } from '../../server/dispatch.js'
import { toResponse, type Answer } from '../../server/answer.js'
import { AnswerCache } from '../../server/answer-cache.js'
import { StoreVersion } from '../../server/store-version.js'
import { apiHandler, type FetchHandler, type RoutesElsewhere } from '../../server/handler.js'
import { docsAnswer } from '../../server/docs-page.js'
import { healthAnswer } from '../../server/health.js'
import { ProcessMetrics, StoreMetrics } from '../../server/metrics/metrics.js'
import { nodeHandler } from '../../server/node.js'
import { openApiDocument } from '../../server/openapi.js'
import type { OtherProcess } from '../../server/other-process.js'
import { Refusal } from '../../server/problem.js'
import { accessRoutes, callerRoute } from '../../server/routes/access.js'
import { dashboardFolder, staticFiles } from '../../server/static.js'
import { Broadcast } from '../../server/stream/broadcast.js'
import { pulseText } from '../../server/stream/pulse-text.js'
import { isRead, route, type Route } from '../../wire/route.js'
import type { App } from '../rota.js'
import { coreRoutes } from '../routes/index.js'
import { retentionRoute } from '../routes/retention.js'
import { simulationRoute } from '../routes/simulation.js'
import { uiRoutes } from '../routes/ui/index.js'
import type { Authorize, Served } from './app-handler.js'
import { loadDoors, loadFeatureRoutes, loadGauges } from './feature-routes.js'

/** How an app is served: by a surrounding server that knows its users, or on its own address. */
export type ServeOptions = {
  readonly readOnly?: boolean | undefined
  readonly requestsPerSecond?: number | undefined
  /** Compares every answer with the schema of its route; for tests. */
  readonly checkAnswers?: boolean | undefined
  /** Another process that answers some of the requests; default: this one answers all. */
  readonly other?: OtherSide | undefined
} & ({ readonly authorize: Authorize } | { readonly isLoopback: boolean })

/** The other of the two processes that serve an app: the reader process, or the process of the app. */
export interface OtherSide {
  readonly process: OtherProcess
  /** Whether the app runs there; otherwise it runs here. */
  readonly isApp: boolean
}

/** An app and its context. */
export interface AppParts {
  readonly app: App
  readonly context: AppContext
}

/** Creates the server of an app. */
export async function serve({ app, context }: AppParts, options: ServeOptions): Promise<Served> {
  const { clock, events, now } = context
  const onTrouble = (error: unknown): void =>
    events.emit('trouble', { where: 'serving', error, retryInMs: 0 })
  const store = await app.store()
  const stream = new Broadcast({ store, clock, onTrouble })
  const undo = (['tick', 'run:started', 'run:ended', 'run:lost'] as const).map((name) =>
    events.on(name, () => stream.wake()),
  )
  const { readOnly, checkAnswers, other } = options
  // What the process of the app answers is not of the store alone, or costs less than what it would wait for.
  const version =
    other?.isApp === true
      ? new StoreVersion({ version: store.version, stamp: store.stamp, clock })
      : undefined
  const known = version === undefined ? undefined : new KnownEntries(version)
  const ofStore = other?.isApp === false ? undefined : new StoreMetrics(app)
  const ofProcess = other?.isApp === true ? undefined : new ProcessMetrics(app, await loadGauges())
  const rate = new RequestRate(clock, options.requestsPerSecond)
  const identify = counted(
    'authorize' in options
      ? authorized(options.authorize)
      : identifier({
          entries: async (request) => {
            const entries = await context.store()
            return known?.of(request, entries) ?? entries
          },
          now,
          ...options,
        }),
    rate,
  )
  const routes = await allRoutes({
    isMounted: 'authorize' in options,
    isReadOnly: readOnly === true,
    stream,
    retentionMs: () => context.settings.retentionMs,
  })
  const api = apiHandler<App>({
    app,
    routes,
    identify,
    readOnly,
    checkAnswers,
    onTrouble,
    store: context.store,
    now,
    other: other === undefined ? undefined : routesOf(other),
    cache: version === undefined ? undefined : new AnswerCache({ version, clock }),
  })
  const health = (question: 'live' | 'ready'): Promise<Answer> =>
    healthAnswer({ isReady: app.isReady, probe: async () => void (await store.pulse()) }, question)
  const handle = dispatcher({
    api: async (request, connection) => {
      const answer = await api(request, connection)
      // A caller sees its own change immediately, even if the store sends no hint.
      if (request.method !== 'GET') stream.wake()
      return answer
    },
    health,
    metrics: async () => `${(await ofProcess?.text()) ?? ''}${(await ofStore?.text()) ?? ''}`,
    identify,
    rate,
    doors: await doorsOf(app, readOnly === true),
    dashboard: staticFiles(dashboardFolder),
    onTrouble,
    other,
  })
  return {
    fetch: async (request, connection) => toResponse(await handle(request, connection)),
    node: nodeHandler(handle),
    wake: () => stream.wake(),
    close: async () => {
      for (const stop of undo) stop()
      stream.close()
      ofProcess?.close()
    },
  }
}

/** All routes. A mounted handler has no tokens and sessions: the surrounding program knows its users. */
export async function allRoutes({
  isMounted,
  isReadOnly = false,
  retentionMs = () => 0,
  stream,
}: {
  isMounted: boolean
  isReadOnly?: boolean
  retentionMs?: () => number
  stream?: Broadcast
}): Promise<readonly Route<App>[]> {
  const routes: readonly Route<App>[] = [
    ...coreRoutes,
    ...uiRoutes(),
    ...(await loadFeatureRoutes()),
    ...(isMounted ? [] : accessRoutes(new SignInAttempts())),
    callerRoute({ isReadOnly, isMounted }),
    retentionRoute(retentionMs),
    simulationRoute(),
    ...liveRoutes(stream),
    documentRoute(() => routes),
    docsRoute(() => routes),
  ]
  return routes
}

/** The doors of features. Requests to them change something, so a read-only server has none. */
async function doorsOf(app: App, isReadOnly: boolean): Promise<ReadonlyMap<string, FetchHandler>> {
  const doors = isReadOnly ? [] : [...(await loadDoors())]
  return new Map(doors.map(([name, open]) => [name, (request) => open(app, request)]))
}

/** Which requests the other process answers: a reader those that need only the store, the app all others. */
function routesOf({ process, isApp }: OtherSide): RoutesElsewhere {
  const isOfStore = (one: Parameters<RoutesElsewhere['answers']>[0]): boolean =>
    isRead(one) && one.needsApp !== true
  return {
    process,
    answers: (one) => (isApp ? !isOfStore(one) : isOfStore(one) && one.isStream !== true),
  }
}

/** Asks the surrounding program who makes a request. */
function authorized(authorize: Authorize): Identify {
  return async (request) => {
    const caller = await authorize(request)
    if (caller !== false) return caller
    throw new Refusal('NOT_SIGNED_IN', 'the surrounding program refused the request')
  }
}

function liveRoutes(stream: Broadcast | undefined): readonly Route<App>[] {
  const group = 'Live'
  return [
    route({
      method: 'GET',
      path: '/stream',
      isStream: true,
      role: 'read',
      group,
      summary: 'Streams which topics have changed, as server-sent events.',
      about:
        'Send the id of the last event as `Last-Event-ID`: the stream then begins with what changed since.',
      answer: z.string(),
      example: {},
      handle: async ({ request }) => await stream?.connect(request),
    }),
    route({
      method: 'GET',
      path: '/pulse',
      role: 'read',
      group,
      summary: 'Reads the state of the store as a text that changes when something visible changes.',
      answer: z.strictObject({ id: z.string() }),
      example: {},
      handle: async ({ app }) => ({ id: pulseText(await (await app.store()).pulse()) }),
    }),
  ]
}

function documentRoute(routes: () => readonly Route<App>[]): Route<App> {
  return route({
    method: 'GET',
    path: '/openapi.json',
    role: 'read',
    group: 'Live',
    summary: 'Reads the OpenAPI document of this server.',
    answer: z.looseObject({ openapi: z.string() }),
    example: {},
    handle: async () => openApiDocument(routes(), packageVersion),
  })
}

function docsRoute(routes: () => readonly Route<App>[]): Route<App> {
  return route({
    method: 'GET',
    path: '/docs',
    role: 'read',
    group: 'Live',
    summary: 'Shows the reference of this server as a page for people, without any script.',
    answer: z.string(),
    example: {},
    handle: async () => docsAnswer(routes(), packageVersion),
  })
}
