/**
 * A route of the HTTP API, as data: its address, its role, its request and its answer. The server, the OpenAPI
 * document, the reference page and the client are all generated from routes.
 */
import type { z } from 'zod'
import type { ChangeOptions, NamedChange } from '../kernel/audit/change-options.js'
import type { Role } from './role.js'

/** The methods of routes; `GET` changes nothing. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An object schema, as a route uses it for its query, its body and the parts of its path. */
export type Shape = z.ZodObject

/** The value of a shape; undefined without a shape. */
export type ValueOf<Given extends Shape | undefined> = Given extends Shape ? z.output<Given> : undefined

/** One route. `App` is the part of the app that its handler uses. */
export interface Route<
  App = never,
  Path extends Shape | undefined = Shape | undefined,
  Query extends Shape | undefined = Shape | undefined,
  Body extends Shape | undefined = Shape | undefined,
> {
  readonly method: Method
  /** The path below `/api/v1`, with its parts in braces: `/runs/{id}`. */
  readonly path: string
  /** The least role that may use it; `none`: also callers who have not signed in. */
  readonly role: Role | 'none'
  /** The group in which the reference page lists it. */
  readonly group: string
  /** One sentence: what it returns or changes. */
  readonly summary: string
  /** What else a caller must know. */
  readonly about?: string
  readonly parts?: Path
  readonly query?: Query
  readonly body?: Body
  readonly answer: z.ZodType
  /** The field of the answer that becomes its `ETag`, and that `If-Match` is compared with. */
  readonly etag?: string
  /** Whether the answer contains a secret, which must not be stored for a repeated `Idempotency-Key`. */
  readonly isSecret?: boolean
  /** The status of success; default: 200. */
  readonly status?: 200 | 201 | 202
  /** Whether only the dashboard uses it: it may change with any version. */
  readonly isPrivate?: boolean
  /** The name under which agents can call it as a tool (Model Context Protocol); default: they cannot. */
  readonly tool?: string
  /** Whether it reads more than the store, such as files that the app names: only the process of the app can answer it. */
  readonly needsApp?: boolean
  /** Whether it only reads, although it has a body: it is answered like a `GET`, also by a read-only server. */
  readonly isQuestion?: boolean
  /** Whether its answer may be a stream. */
  readonly isStream?: boolean
  /** A request that the tests send, and that the reference page shows. */
  readonly example?: RouteExample
  handle(call: Call<App, Path, Query, Body>): Promise<unknown>
  /**
   * Answers a repeated `Idempotency-Key` from the store if the change was made and the answer was lost; default: the
   * request is refused with the list of changes.
   */
  again?(call: Call<App, Path, Query, Body>, changed: readonly NamedChange[]): Promise<unknown>
}

/** An example request: the parts of its path, its query and its body. */
export interface RouteExample {
  readonly parts?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A checked request, as its handler gets it. */
export interface Call<
  App,
  Path extends Shape | undefined = Shape | undefined,
  Query extends Shape | undefined = Shape | undefined,
  Body extends Shape | undefined = Shape | undefined,
> {
  readonly app: App
  readonly caller: Caller
  readonly parts: ValueOf<Path>
  readonly query: ValueOf<Query>
  readonly body: ValueOf<Body>
  /** The actor, the reason and the options of the change: every change of the app takes them. */
  readonly change: ChangeOptions
  /** The request itself; its signal aborts when the caller disconnects. */
  readonly request: Request
  readonly connection: Connection
}

/** Information about a connection besides its request. */
export interface Connection {
  /** The address of the peer, if the server knows it. */
  readonly peer?: string | undefined
  /** The path that the browser requested; a surrounding server may have removed its own part from the request. */
  readonly asked?: string | undefined
  /** Passes the request to the surrounding program, which answers it. */
  readonly passOn?: (() => Response) | undefined
  /** Who makes the request, if another process has identified the caller. */
  readonly caller?: Caller | undefined
}

/** Who makes a request. */
export interface Caller {
  /** The name that holds and the audit record. */
  readonly actor: string
  readonly role: Role | 'none'
}

/** Whether a route changes nothing. */
export function isRead({ method, isQuestion = false }: Pick<Route, 'method' | 'isQuestion'>): boolean {
  return method === 'GET' || isQuestion
}

/** Checks the types of a route, and returns it as a route of any kind. */
export function route<
  App,
  Path extends Shape | undefined = undefined,
  Query extends Shape | undefined = undefined,
  Body extends Shape | undefined = undefined,
>(given: Route<App, Path, Query, Body>): Route<App> {
  return given
}
