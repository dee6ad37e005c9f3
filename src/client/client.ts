/**
 * A small client of the HTTP API: typed `fetch`, no dependencies. Works in browsers, Node.js, Deno and Bun.
 *
 *   const rota = createClient({ url: 'http://127.0.0.1:7070', token })
 *   const { items } = await rota('GET /runs', { query: { state: 'failed' } })
 *   await rota('POST /runs/{id}/retry', { path: { id: items[0].id }, body: { reason: 'fixed' } })
 */
import type { Operations, Problem } from './operations.js'

/** The options of a client. */
export interface ClientOptions {
  /** The address at which the handler is mounted; default: the origin of the page. */
  readonly url?: string
  readonly token?: string
  readonly fetch?: typeof fetch
}

interface Operation {
  readonly request: object
  readonly answer: unknown
}

type Given<One extends Operation> = One['request'] & {
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

/** Operations without required parts may omit their options. */
type Arguments<One extends Operation> = object extends One['request']
  ? [given?: Given<One>]
  : [given: Given<One>]

/** Calls one operation of the API and returns its answer; default: the public operations. */
export type Client<All extends Readonly<Record<keyof All, Operation>> = Operations> = <
  Name extends keyof All & string,
>(
  operation: Name,
  ...given: Arguments<All[Name]>
) => Promise<All[Name]['answer']>

/** The error of a failed request. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly todo: string
  readonly errors: Problem['errors']

  constructor(problem: Partial<Problem>, status: number) {
    super(problem.detail ?? `the server answered with status ${status}`)
    this.name = 'ApiError'
    this.status = status
    this.code = problem.code ?? 'UNEXPECTED'
    this.todo = problem.todo ?? ''
    this.errors = problem.errors ?? []
  }
}

/** Creates a client. */
export function createClient<All extends Readonly<Record<keyof All, Operation>> = Operations>({
  url = '',
  token,
  fetch: send = fetch,
}: ClientOptions = {}): Client<All> {
  return async (operation, ...[given = {}]) => {
    const { path = {}, query = {}, body, signal, headers } = given as Request
    const [method = '', template = ''] = operation.split(' ')
    const filled = template.replace(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(path[part] ?? ''))
    const entries = Object.entries(query).flatMap(([key, value]): [string, string][] =>
      (Array.isArray(value) ? value : [value])
        .filter((one) => one != null)
        .map((one) => [key, String(one)] as [string, string]),
    )
    const search = entries.length === 0 ? '' : `?${new URLSearchParams(entries).toString()}`
    const response = await send(`${url}/api/v1${filled}${search}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
    const answer: unknown = await response.json().catch(() => ({}))
    if (!response.ok) throw new ApiError(answer as Partial<Problem>, response.status)
    return answer
  }
}

interface Request {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}
