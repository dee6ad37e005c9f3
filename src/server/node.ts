import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { FetchHandler } from './handler.js'

/** Handles a request of Node's server, of Express, or of anything that hands both on. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Makes a handler for Node's server of one that takes Fetch requests. */
export function nodeHandler(handle: FetchHandler): NodeHandler {
  return getRequestListener(
    (request, { incoming }) => {
      // Express cuts the path of a mount off `url`, and keeps the whole of it here.
      const { socket, originalUrl } = incoming as HttpBindings['incoming'] & { originalUrl?: string }
      return handle(request, { peer: socket.remoteAddress, asked: originalUrl })
    },
    // The program around may have its own Request and Response.
    { overrideGlobalObjects: false },
  )
}
