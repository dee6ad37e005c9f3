import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { AnswerHandler } from './handler.js'

/** Handles a request of Node's server or a framework. Requests outside the mount path are passed to `next`. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: () => void,
) => Promise<void>

/** What Express adds to a request. */
type Incoming = HttpBindings['incoming'] & { originalUrl?: string }

/** Converts a handler of Fetch requests to one for Node's server. */
export function nodeHandler(handle: AnswerHandler): NodeHandler {
  return async (incoming, outgoing, next) => {
    keepReadBody(incoming)
    const passOn = next === undefined ? undefined : () => handOn(next)
    const listener = getRequestListener(
      async (request, bindings) => {
        // Express removes the mount path from `url`, and keeps the whole path here.
        const { socket, originalUrl } = bindings.incoming as Incoming
        const answer = await handle(request, { peer: socket.remoteAddress, asked: originalUrl, passOn })
        if (answer instanceof Response) return answer
        const { status, headers, body } = answer
        outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
        return RESPONSE_ALREADY_SENT
      },
      // The surrounding program may have its own Request and Response.
      { overrideGlobalObjects: false },
    )
    await listener(incoming, outgoing)
  }
}

function handOn(next: () => void): Response {
  next()
  return RESPONSE_ALREADY_SENT
}

/** If a body parser has already read the request, the parsed body is used instead. */
function keepReadBody(incoming: IncomingMessage & { body?: unknown; rawBody?: unknown }): void {
  const { body } = incoming
  if (body === undefined || incoming.rawBody !== undefined || !incoming.readableEnded) return
  incoming.rawBody = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}
