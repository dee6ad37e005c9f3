import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { AnswerHandler } from './handler.js'

/** Handles a request of Node's server, of Express, or of anything that hands both on. What is for somebody else goes to `next`. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: () => void,
) => Promise<void>

/** What Express adds to a request. */
type Incoming = HttpBindings['incoming'] & { originalUrl?: string }

/** Makes a handler for Node's server of one that takes Fetch requests. */
export function nodeHandler(handle: AnswerHandler): NodeHandler {
  return async (incoming, outgoing, next) => {
    keepReadBody(incoming)
    const passOn = next === undefined ? undefined : () => handOn(next)
    const listener = getRequestListener(
      async (request, bindings) => {
        // Express cuts the path of a mount off `url`, and keeps the whole of it here.
        const { socket, originalUrl } = bindings.incoming as Incoming
        const answer = await handle(request, { peer: socket.remoteAddress, asked: originalUrl, passOn })
        if (answer instanceof Response) return answer
        const { status, headers, body } = answer
        outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
        return RESPONSE_ALREADY_SENT
      },
      // The program around may have its own Request and Response.
      { overrideGlobalObjects: false },
    )
    await listener(incoming, outgoing)
  }
}

function handOn(next: () => void): Response {
  next()
  return RESPONSE_ALREADY_SENT
}

/** If a body parser has read the request, its bytes are gone; what the parser made of them has the same meaning. */
function keepReadBody(incoming: IncomingMessage & { body?: unknown; rawBody?: unknown }): void {
  const { body } = incoming
  if (body === undefined || incoming.rawBody !== undefined || !incoming.readableEnded) return
  incoming.rawBody = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}
