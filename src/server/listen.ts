import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { RotaError } from '../kernel/definition/errors.js'
import type { Clock } from '../time/clock.js'

/** Where a server listens. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Answers a request of Node's server. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

/** The options of a server. */
export interface ServerOptions {
  readonly clock: Clock
  /** How long the headers of a request may take; default: 10 s. */
  readonly headersMs?: number | undefined
}

const mostConnections = 1000

/** The default port. It is not registered by any other service. */
const defaultPort = 7070

/** How many ports are tried by default: several programs may run on one machine. */
const mostTried = 10

/** How long running requests may take when the server is closed. */
const closeMs = 5000

/** A server that listens on one address, with limits for its peers. */
export class HttpServer {
  readonly #server: Server
  readonly #clock: Clock

  constructor(listener: Listener, { clock, headersMs = 10_000 }: ServerOptions) {
    this.#clock = clock
    const limits = {
      headersTimeout: headersMs,
      requestTimeout: 3 * headersMs,
      // How often Node checks for connections that exceeded the limit: every 30 s by default.
      connectionsCheckingInterval: headersMs / 10,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16_384,
      // Node's own answer to a request without a host would lack our headers.
      requireHostHeader: false,
    }
    const answer = (request: IncomingMessage, response: ServerResponse): void =>
      void listener(request, response)
    this.#server = createServer(limits, answer)
    this.#server.maxConnections = mostConnections
    this.#server.on('checkExpectation', answer)
    this.#server.on('clientError', answerBroken)
  }

  /** Starts to listen; by default at the default port or one of the next ones. */
  async listenAt({ host, port }: { host: string; port: number | undefined }): Promise<Address> {
    if (port !== undefined) return await this.listen({ host, port })
    for (let i = 0; ; i += 1) {
      try {
        return await this.listen({ host, port: defaultPort + i })
      } catch (error) {
        if (!isInUse(error)) throw error
        if (i + 1 < mostTried) continue
        const message = `the ports ${defaultPort} to ${defaultPort + i} of ${host} are in use`
        throw new RotaError('LISTEN_FAILED', message, { cause: error })
      }
    }
  }

  /** Starts to listen. */
  async listen({ host, port }: Address): Promise<Address> {
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error): void => reject(listenFailed({ host, port }, error))
      this.#server.once('error', fail)
      this.#server.listen(port, host, () => {
        this.#server.off('error', fail)
        resolve()
      })
    })
    const { address, port: bound } = this.#server.address() as AddressInfo
    return { host: address, port: bound }
  }

  /** Accepts no more requests; those in progress get a few seconds. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    const cancel = this.#clock.timer(closeMs, () => this.#server.closeAllConnections())
    await closed
    cancel()
  }
}

function isInUse(error: unknown): boolean {
  return ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'
}

/** Answers invalid requests: bytes that are not HTTP, headers that are too long or too slow. */
function answerBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  // A part of an answer may already be sent; a second one would be read as a part of it.
  if (!socket.writable || (socket as Socket).bytesWritten > 0) return void socket.destroy()
  const { status, detail } = brokenAnswers[error.code ?? ''] ?? malformed
  const body = JSON.stringify({ status, code: 'REQUEST_MALFORMED', detail })
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    'x-content-type-options: nosniff',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

const malformed = { status: 400, detail: 'this is not an HTTP request' }

const brokenAnswers: Readonly<Record<string, typeof malformed>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'the headers are too long' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'the request took too long' },
}

function listenFailed({ host, port }: Address, error: NodeJS.ErrnoException): RotaError {
  const reason = listenReasons[error.code ?? ''] ?? error.message
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
  return new RotaError('LISTEN_FAILED', `cannot listen at ${place}: ${reason}`, { cause: error })
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'this user may not listen on that port',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
}
