import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Delivered } from './deliver.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import type { ConfiguredSensor, Observation } from '../sensor.js'
import { readWebhookRequest, webhookStatuses, type WebhookOutcome } from '../kinds/webhook/request.js'
import { observeWebhook, type WebhookSensorConfig } from '../kinds/webhook/sensor.js'
import type { Clock } from '../../../time/clock.js'
import type { Instant } from '../../../time/instant.js'

/** Where deliveries are listened for. */
export interface WebhookAddress {
  readonly host: string
  readonly port: number
}

/** What listening for deliveries needs. */
export interface WebhooksOptions {
  readonly sensors: ReadonlyMap<string, ConfiguredSensor>
  readonly clock: Clock
  readonly now: () => Instant
  readonly timezoneOf: (sensor: string) => Promise<string>
  readonly deliver: (sensor: string, observation: Observation) => Promise<Delivered>
  readonly onTrouble: (error: unknown) => void
  /** Whether deliveries can be taken already. */
  readonly isReady: () => boolean
  /** How long the headers of a request may take; default: 10 s. */
  readonly headersMs?: number | undefined
}

const mostConnections = 1000

/** Takes signed deliveries over HTTP and hands them to their sensors; a sender has its answer when the delivery is durable. */
export class Webhooks {
  readonly #options: WebhooksOptions
  readonly #server: Server

  constructor(options: WebhooksOptions) {
    this.#options = options
    const { headersMs = 10_000 } = options
    const answer = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#answer(request, response)
    const limits = {
      headersTimeout: headersMs,
      requestTimeout: 3 * headersMs,
      // Node looks for connections that are over time only this often: every 30 s by default.
      connectionsCheckingInterval: headersMs / 10,
      // Node's own answer to a request without a host would not have our headers.
      requireHostHeader: false,
    }
    this.#server = createServer(limits, answer)
    this.#server.maxConnections = mostConnections
    this.#server.on('checkExpectation', answer)
    this.#server.on('clientError', answerBroken)
  }

  /** Begins to listen: on this machine only, unless another address is named. */
  async listen({ host = '127.0.0.1', port }: { host?: string; port: number }): Promise<WebhookAddress> {
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error): void => reject(listenFailed({ host, port }, error))
      this.#server.once('error', fail)
      this.#server.listen(port, host, () => {
        this.#server.off('error', fail)
        resolve()
      })
    })
    this.#server.on('error', this.#options.onTrouble)
    const { address, port: bound } = this.#server.address() as AddressInfo
    return { host: address, port: bound }
  }

  /** Takes no more deliveries; those that are being answered get their answer. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    const cancel = this.#options.clock.timer(closeMs, () => this.#server.closeAllConnections())
    await closed
    cancel()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#take(request).catch((error: unknown) => {
      // The sender is told nothing of what went wrong here, only that it may try again.
      this.#options.onTrouble(error)
      return notNow
    })
    respond(request, response, answer)
  }

  async #take(request: IncomingMessage): Promise<Answer> {
    if (!this.#options.isReady()) return notNow
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      return { outcome: 'malformed', reason: 'the host header is missing' }
    }
    const name = sensorOf(request.url ?? '')
    const configured = name === undefined ? undefined : this.#options.sensors.get(name)
    if (name === undefined || configured?.type !== 'webhook') {
      return { outcome: 'unknown-sensor', reason: 'there is no such webhook' }
    }
    const { clock, now, timezoneOf, deliver } = this.#options
    const read = await readWebhookRequest(request, { clock })
    if (read.kind !== 'read') return { outcome: read.kind, reason: read.reason }
    const { headers, body } = read
    const timezone = await timezoneOf(name)
    const config = configured.config as WebhookSensorConfig
    const observed = await observeWebhook(config, { headers, body, now: new Date(now()), timezone })
    if (observed.kind !== 'observed') return { outcome: observed.kind, reason: observed.reason }
    return { outcome: await deliver(name, observed.observation) }
  }
}

const closeMs = 5000

interface Answer {
  readonly outcome: WebhookOutcome
  readonly reason?: string
}

const notNow: Answer = { outcome: 'store-away', reason: 'not now; try again' }

/** The sensor that a path means: `/webhooks/<sensor>`. */
function sensorOf(url: string): string | undefined {
  const [, name] = /^\/webhooks\/([^?#]+)/.exec(url) ?? []
  try {
    return name === undefined ? undefined : decodeURIComponent(name)
  } catch {
    return undefined
  }
}

function respond(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const body = Buffer.from(JSON.stringify(answer))
  const status = webhookStatuses[answer.outcome]
  response.writeHead(status, {
    ...headersOf(body),
    ...(request.complete ? {} : { connection: 'close' }),
    ...(status === 503 ? { 'retry-after': '30' } : {}),
    ...(status === 405 ? { allow: 'POST' } : {}),
  })
  response.end(body)
}

/** No browser is to take an answer for anything but what it says it is. */
function headersOf(body: Buffer) {
  return {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-content-type-options': 'nosniff',
  }
}

/** Answers what never became a request: bytes that are no HTTP, headers that are too long or too late. */
function answerBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  // Half of an answer may be out already; a second one would be read as a part of it.
  if (!socket.writable || (socket as Socket).bytesWritten > 0) return void socket.destroy()
  const { status, ...answer } = brokenAnswers[error.code ?? ''] ?? malformed
  const body = Buffer.from(JSON.stringify(answer))
  const headers = Object.entries({ ...headersOf(body), connection: 'close' })
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...headers.map((pair) => pair.join(': '))]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body.toString()}`)
}

const malformed = { status: 400, outcome: 'malformed', reason: 'this is not an HTTP request' }

const brokenAnswers: Readonly<Record<string, typeof malformed>> = {
  HPE_HEADER_OVERFLOW: { status: 431, outcome: 'too-large', reason: 'the headers are too long' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, outcome: 'too-slow', reason: 'the request took too long' },
}

function listenFailed({ host, port }: WebhookAddress, error: NodeJS.ErrnoException): RotaError {
  const reason = listenReasons[error.code ?? ''] ?? error.message
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const message = `webhooks cannot be listened for at ${place}: ${reason}`
  return new RotaError('LISTEN_FAILED', message, { cause: error })
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'this user may not listen on that port',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
}
