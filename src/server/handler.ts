/**
 * The HTTP API as one Fetch handler. Every request passes the same steps in the same order: caller, sender, route, role,
 * query and body. Only then does its route handle it.
 */
import type { NamedChange } from '../kernel/audit/change-options.js'
import type { Store } from '../store/port.js'
import type { Instant } from '../time/instant.js'
import { includesRole } from '../wire/role.js'
import { isRead, type Call, type Caller, type Connection, type Route } from '../wire/route.js'
import type { Identify } from './access/identify.js'
import { senderOf } from './access/origin.js'
import { jsonAnswer, problemAnswer, type Answer } from './answer.js'
import type { AnswerCache } from './answer-cache.js'
import { keyOf, onlyOnce } from './only-once.js'
import type { OtherProcess } from './other-process.js'
import { isKnown, Refusal } from './problem.js'
import { queryOf, readAs, readBody } from './read-request.js'
import { router, type Match } from './router.js'

/** How the API is served. */
export interface HandlerOptions<App> {
  readonly app: App
  readonly routes: readonly Route<App>[]
  readonly identify: Identify
  /** Whether changes are refused for all callers. */
  readonly readOnly?: boolean | undefined
  /** Called with errors of the server itself. */
  readonly onTrouble: (error: unknown) => void
  /** Compares every answer with the schema of its route; for tests. */
  readonly checkAnswers?: boolean | undefined
  /** The store of answers to requests with an `Idempotency-Key`. */
  readonly store: () => Promise<Store>
  readonly now: () => Instant
  /** Keeps answers for equal requests until something changes. */
  readonly cache?: AnswerCache | undefined
  /** Answers some of the routes in another process, after the request was checked here. */
  readonly other?: RoutesElsewhere | undefined
}

/** Routes that another process answers. */
export interface RoutesElsewhere {
  readonly process: OtherProcess
  answers(route: Pick<Route, 'method' | 'isQuestion' | 'needsApp' | 'isStream'>): boolean
}

/** Answers the requests at and below one path. */
export type FetchHandler = (request: Request, connection?: Connection) => Promise<Response>

/** The same, but answers need not be Responses. */
export type AnswerHandler = (request: Request, connection?: Connection) => Promise<Answer>

/** The path of the API, below the mount path of the handler. */
export const apiPath = '/api/v1'

/** Creates the handler of these routes. */
export function apiHandler<App>(options: HandlerOptions<App>): AnswerHandler {
  const find = router(options.routes)
  return async (request, connection = {}) => {
    const { pathname, searchParams } = new URL(request.url)
    const at = pathname.indexOf(`${apiPath}/`)
    try {
      const match = find(request.method, pathname.slice(at + apiPath.length))
      const caller = await options.identify(request, connection, match.route.role)
      checkMayCall(options, { request, caller, route: match.route })
      if (options.other?.answers(match.route) === true)
        return await options.other.process.answer(request, { ...connection, caller })
      const answer = (): Promise<Answer> =>
        perform(options, { request, connection, caller, searchParams, ...match })
      const { cache } = options
      return await (cache === undefined
        ? answer()
        : cache.answer({ request, caller, route: match.route }, answer))
    } catch (error) {
      if (!isKnown(error)) options.onTrouble(error)
      return problemAnswer(error)
    }
  }
}

function checkMayCall<App>(
  { readOnly }: HandlerOptions<App>,
  { request, caller, route }: { request: Request; caller: Caller; route: Route<App> },
): void {
  if (senderOf(request.headers) === 'foreign page') {
    throw new Refusal('ORIGIN_REFUSED', 'the request comes from a page of another site')
  }
  if (!includesRole(caller.role, route.role)) {
    const message = `${caller.actor} has the role ${caller.role}; this needs ${route.role}`
    throw new Refusal('NOT_ALLOWED', message)
  }
  if (readOnly === true && !isRead(route)) {
    throw new Refusal('READ_ONLY', 'this server is read-only')
  }
}

async function perform<App>(
  options: HandlerOptions<App>,
  given: Match<App> &
    Pick<Call<App>, 'request' | 'connection' | 'caller'> & { searchParams: URLSearchParams },
): Promise<Answer> {
  const { request, connection, caller, route, searchParams } = given
  const body = await bodyOf(route, request)
  const tag = tagOf(request.headers.get('if-match'), route)
  const change = { ...asked(body), by: caller.actor, via: 'api', tag } as const
  const call: Call<App> = {
    app: options.app,
    caller,
    parts: route.parts === undefined ? undefined : readAs(route.parts, given.parts, 'path'),
    query: readQuery(route, searchParams),
    body,
    change,
    request,
    connection,
  }
  const key = isRead(route) || route.role === 'none' ? undefined : keyOf(request.headers)
  if (key === undefined) return await answerOf(options, route, call)
  const { pathname } = new URL(request.url)
  const text = `${route.method} ${pathname}?${searchParams.toString()} ${JSON.stringify(body)}`
  const { isSecret = false } = route
  const keyed = {
    store: await options.store(),
    now: options.now,
    key,
    text,
    actor: caller.actor,
    isSecret,
    again:
      route.again === undefined
        ? undefined
        : async (changed: readonly NamedChange[]) =>
            jsonAnswer(await route.again?.(call, changed), route.status),
  }
  return await onlyOnce(keyed, (alongside) =>
    answerOf(options, route, { ...call, change: { ...change, alongside } }),
  )
}

/** Why a change is made, and whether it is a dry run. */
function asked(body: unknown): Pick<Call<never>['change'], 'reason' | 'dryRun'> {
  const { reason, dryRun } = (body ?? {}) as { reason?: string; dryRun?: boolean }
  return { reason, dryRun }
}

async function answerOf<App>(
  { checkAnswers }: HandlerOptions<App>,
  route: Route<App>,
  call: Call<App>,
): Promise<Answer> {
  const answer = await route.handle(call)
  if (answer instanceof Response) return answer
  const tag = route.etag === undefined ? undefined : (answer as Record<string, string>)[route.etag]
  const response = jsonAnswer(answer, route.status, tag === undefined ? {} : { etag: `"${tag}"` })
  if (checkAnswers === true) route.answer.parse(JSON.parse(response.body))
  return response
}

function readQuery<App>({ query }: Route<App>, search: URLSearchParams) {
  if (query !== undefined) return readAs(query, queryOf(search), 'query')
  const [first] = search.keys()
  if (first === undefined) return undefined
  throw new Refusal('REQUEST_INVALID', `this route takes no query: ${JSON.stringify(first)}`)
}

async function bodyOf<App>({ body, method }: Route<App>, request: Request) {
  if (method === 'GET') return undefined
  const given = await readBody(request)
  if (body !== undefined) return readAs(body, given ?? {}, 'body')
  if (given === undefined) return undefined
  throw new Refusal('REQUEST_INVALID', 'this route takes no body')
}

/** The tag of a trigger in `If-Match`, without its quotes. */
function tagOf<App>(text: string | null, { path }: Route<App>): string | undefined {
  if (text === null) return undefined
  if (!path.startsWith('/triggers/{name}')) {
    throw new Refusal('REQUEST_MALFORMED', 'If-Match is supported only for changes of one trigger')
  }
  const [, tag] = /^"([!#-~]{1,64})"$/.exec(text) ?? []
  if (tag !== undefined) return tag
  throw new Refusal('REQUEST_MALFORMED', `If-Match is not a tag in quotes: ${JSON.stringify(text)}`)
}
