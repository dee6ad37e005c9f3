/** `app.handler()`: the API of an app as one function, to be mounted in any server. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { placeOf } from '../../kernel/definition/faults.js'
import { readWhole } from '../../kernel/definition/read-value.js'
import type { FetchHandler } from '../../server/handler.js'
import type { NodeHandler } from '../../server/node.js'
import type { Role } from '../../wire/role.js'

/** How an app is mounted. */
export interface HandlerOptions {
  /** Returns who makes a request, or false to refuse it: the surrounding server knows its users, Rota does not. */
  readonly authorize: Authorize
  /** Whether all changes are refused, for every caller. */
  readonly readOnly?: boolean | undefined
  /** The most requests of one caller in a second; default: 5000. */
  readonly requestsPerSecond?: number | undefined
}

/** Returns who makes a request. */
export type Authorize = (request: Request) => AuthorizedCaller | false | Promise<AuthorizedCaller | false>

/** Who makes a request, and what they may do. */
export interface AuthorizedCaller {
  readonly actor: string
  readonly role: Role
}

/** Answers Fetch requests; `node` answers those of Node's server. */
export interface AppHandler {
  (request: Request): Promise<Response>
  /** For `node:http` and frameworks built on it. Requests outside the mount path are passed to `next`. */
  node(request: IncomingMessage, response: ServerResponse, next?: () => void): Promise<void>
  /** Ends open streams and the reader process; the handler cannot be used afterwards. */
  close(): Promise<void>
}

/** Where and how an app listens. */
export interface ListenOptions {
  /** Default: 7070, or one of the next nine if it is taken; 0: any free one. */
  readonly port?: number | undefined
  /** Default: this machine only. Any other address needs a token. */
  readonly host?: string | undefined
  /** Whether all changes are refused, for every caller. */
  readonly readOnly?: boolean | undefined
  /** The most requests of one caller in a second; default: 5000. */
  readonly requestsPerSecond?: number | undefined
}

/** A server without an address. */
export interface Served {
  readonly fetch: FetchHandler
  readonly node: NodeHandler
  /** Checks soon whether the streams must report a change. */
  wake(): void
  close(): Promise<void>
}

/** Creates the handler; its parts are loaded with the first request. */
export function appHandler(options: HandlerOptions, serve: () => Promise<Served>): AppHandler {
  if (typeof (options as Partial<HandlerOptions> | undefined)?.authorize !== 'function') {
    const message =
      'app.handler() needs `authorize`, a function that returns who makes a request: ' +
      '(request) => ({ actor: "ann", role: "read" }) or false'
    throw new RotaError('DEFINITION_INVALID', message)
  }
  assertRate(options)
  let served: Promise<Served> | undefined
  const load = (): Promise<Served> => {
    served ??= serve()
    return served
  }
  const handle = async (request: Request): Promise<Response> => (await load()).fetch(request)
  return Object.assign(handle, {
    node: async (...given: Parameters<NodeHandler>) => (await load()).node(...given),
    close: async () => (await served)?.close(),
  })
}

/** Throws if the limit of requests is not one. */
export function assertRate({ requestsPerSecond }: Pick<HandlerOptions, 'requestsPerSecond'>): void {
  const place = placeOf('requestsPerSecond')
  readWhole(requestsPerSecond, rateBounds, place)
  refuse('the server', place.faults)
}

/** The limits of requests that can be set. */
export const rateBounds = { min: 1, max: 1_000_000 }
