import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Delivered } from '../../engine/deliver.js'
import type { ConfiguredSensor, Observation } from '../../model/sensor.js'
import { readWebhookRequest, webhookStatuses, type WebhookOutcome } from '../../sensors/webhook-request.js'
import { observeWebhook, type WebhookSensorConfig } from '../../sensors/webhook.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'

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
}

const mostConnections = 1000

/** Takes signed deliveries over HTTP and hands them to their sensors; a sender has its answer when the delivery is durable. */
export class Webhooks {
  readonly #options: WebhooksOptions
  readonly #server: Server

  constructor(options: WebhooksOptions) {
    this.#options = options
    this.#server = createServer((request, response) => void this.#answer(request, response))
    this.#server.maxConnections = mostConnections
    this.#server.headersTimeout = 10_000
    this.#server.requestTimeout = 30_000
  }

  /** Begins to listen: on this machine only, unless another address is named. */
  async listen({ host = '127.0.0.1', port }: { host?: string; port: number }): Promise<WebhookAddress> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject)
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
    let answer: Answer
    try {
      answer = await this.#take(request)
    } catch (error) {
      // The sender is told nothing of what went wrong here, only that it may try again.
      this.#options.onTrouble(error)
      answer = { outcome: 'store-away', reason: 'not now; try again' }
    }
    respond(request, response, answer)
  }

  async #take(request: IncomingMessage): Promise<Answer> {
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
    const observed = await observeWebhook(config, { headers, body, now: now(), timezone })
    if (observed.kind !== 'observed') return { outcome: observed.kind, reason: observed.reason }
    const delivered = await deliver(name, observed.observation)
    return { outcome: delivered }
  }
}

const closeMs = 5000

interface Answer {
  readonly outcome: WebhookOutcome
  readonly reason?: string
}

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
  const isFit = request.complete
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(isFit ? {} : { connection: 'close' }),
    ...(status === 503 ? { 'retry-after': '30' } : {}),
    ...(status === 405 ? { allow: 'POST' } : {}),
  })
  response.end(body)
}
