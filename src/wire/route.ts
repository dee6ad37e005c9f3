/**
 * A route of the HTTP API, as data: its address, who may use it, what it takes and what it answers. The server, the
 * OpenAPI document, the reference page and the client are all made from these.
 */
import type { z } from 'zod'
import type { ChangeOptions, NamedChange } from '../kernel/audit/change-options.js'
import type { Role } from './role.js'

/** The methods of routes; `GET` changes nothing. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An object schema, as a route uses it for its query, its body and the parts of its path. */
export type Shape = z.ZodObject

/** The value that a shape reads; without a shape there is nothing. */
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
  /** One sentence: what it answers or changes. */
  readonly summary: string
  /** What else a caller must know. */
  readonly about?: string
  readonly parts?: Path
  readonly query?: Query
  readonly body?: Body
  readonly answer: z.ZodType
  /** The field of the answer that becomes its `ETag`, and that `If-Match` is compared with. */
  readonly etag?: string
  /** Whether the answer has a secret, which must not be kept for a repeated `Idempotency-Key`. */
  readonly isSecret?: boolean
  /** The status of success; default: 200. */
  readonly status?: 200 | 201 | 202
  /** Whether only the dashboard uses it: it may change with any version. */
  readonly isPrivate?: boolean
  /** The name under which agents can call it as a tool (Model Context Protocol); default: they cannot. */
  readonly tool?: string
  /** Whether it reads more than the store, such as files that the app names: only the process of the app can answer it. */
  readonly needsApp?: boolean
  /** Whether it only asks, although it has a body: it is answered like a `GET`, also by a server that only reads. */
  readonly isQuestion?: boolean
  /** Whether its answer may be a stream. */
  readonly isStream?: boolean
  /** A request that the tests send, and that the reference page shows. */
  readonly example?: RouteExample
  handle(call: Call<App, Path, Query, Body>): Promise<unknown>
  /**
   * Answers from the store after its change was made and the answer was lost, as a repeated `Idempotency-Key` needs it;
   * default: the caller is told what was changed.
   */
  again?(call: Call<App, Path, Query, Body>, changed: readonly NamedChange[]): Promise<unknown>
}

/** An example request: the parts of its path, its query and its body. */
export interface RouteExample {
  readonly parts?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A request that was checked, as its handler gets it. */
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
  /** Who makes the change that is asked for, why and how: every change of the app takes it. */
  readonly change: ChangeOptions
  /** The request itself; its signal aborts when the caller is gone. */
  readonly request: Request
  readonly connection: Connection
}

/** What is known of a connection besides its request. */
export interface Connection {
  /** The address of the peer, where the server knows it. */
  readonly peer?: string | undefined
  /** The path that the browser asked for, where a server around may have cut off its own part of it. */
  readonly asked?: string | undefined
  /** Hands the request on to the program around, which answers it. */
  readonly passOn?: (() => Response) | undefined
  /** Who makes the request, where another process has found that out. */
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

/** Checks the types of a route, and gives it to lists of routes of any kind. */
export function route<
  App,
  Path extends Shape | undefined = undefined,
  Query extends Shape | undefined = undefined,
  Body extends Shape | undefined = undefined,
>(given: Route<App, Path, Query, Body>): Route<App> {
  return given
}
