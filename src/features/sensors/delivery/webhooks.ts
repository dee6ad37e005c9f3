import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Delivered } from './deliver.js'
import type { ConfiguredSensor, Observation } from '../sensor.js'
import {
  readFetchRequest,
  readWebhookRequest,
  webhookStatuses,
  type WebhookOutcome,
  type WebhookRequest,
} from '../kinds/webhook/request.js'
import { observeWebhook, type WebhookSensorConfig } from '../kinds/webhook/sensor.js'
import type { Clock } from '../../../time/clock.js'
import type { Instant } from '../../../time/instant.js'

/** What accepting deliveries needs. */
export interface WebhooksOptions {
  readonly sensorOf: (name: string) => ConfiguredSensor | undefined
  readonly clock: Clock
  readonly now: () => Instant
  readonly timezoneOf: (sensor: string) => Promise<string>
  readonly deliver: (sensor: string, observation: Observation) => Promise<Delivered>
  readonly onTrouble: (error: unknown) => void
  /** Whether deliveries can be accepted yet. */
  readonly isReady: () => boolean
}

/** Accepts signed deliveries over HTTP and passes them to their sensors; a sender gets its answer when the delivery is durable. */
export class Webhooks {
  readonly #options: WebhooksOptions

  constructor(options: WebhooksOptions) {
    this.#options = options
  }

  /** Answers a request of Node's server to `/webhooks/<sensor>`. */
  async answerNode(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock } = this.#options
    const hasHost = request.headers.host !== undefined || request.httpVersion !== '1.1'
    const [, name] = /^\/webhooks\/([^?#]+)/.exec(request.url ?? '') ?? []
    const answer = hasHost
      ? await this.#answer(name, () => readWebhookRequest(request, { clock }))
      : ({ outcome: 'malformed', reason: 'the host header is missing' } as const)
    const body = Buffer.from(JSON.stringify(answer))
    response.writeHead(webhookStatuses[answer.outcome], {
      ...headersOf(answer),
      'content-length': body.length,
      ...(request.complete ? {} : { connection: 'close' }),
    })
    response.end(body)
  }

  /** Answers a Fetch request to `/hooks/<sensor>`, below any mount path. */
  async answerFetch(request: Request): Promise<Response> {
    const { clock } = this.#options
    const name = new URL(request.url).pathname.split('/').at(-1)
    const answer = await this.#answer(name, () => readFetchRequest(request, { clock }))
    return new Response(JSON.stringify(answer), {
      status: webhookStatuses[answer.outcome],
      headers: headersOf(answer),
    })
  }

  async #answer(name: string | undefined, read: () => Promise<WebhookRequest>): Promise<Answer> {
    try {
      return await this.#take(decoded(name), read)
    } catch (error) {
      // The answer says only that the sender may try again, not what went wrong here.
      this.#options.onTrouble(error)
      return notNow
    }
  }

  async #take(name: string | undefined, readRequest: () => Promise<WebhookRequest>): Promise<Answer> {
    if (!this.#options.isReady()) return notNow
    const configured = name === undefined ? undefined : this.#options.sensorOf(name)
    if (name === undefined || configured?.type !== 'webhook') {
      return { outcome: 'unknown-sensor', reason: 'there is no such webhook' }
    }
    const { now, timezoneOf, deliver } = this.#options
    const read = await readRequest()
    if (read.kind !== 'read') return { outcome: read.kind, reason: read.reason }
    const { headers, body } = read
    const timezone = await timezoneOf(name)
    const config = configured.config as WebhookSensorConfig
    const observed = await observeWebhook(config, { headers, body, now: new Date(now()), timezone })
    if (observed.kind !== 'observed') return { outcome: observed.kind, reason: observed.reason }
    return { outcome: await deliver(name, observed.observation) }
  }
}

interface Answer {
  readonly outcome: WebhookOutcome
  readonly reason?: string
}

const notNow: Answer = { outcome: 'store-away', reason: 'not now; try again' }

function decoded(name: string | undefined): string | undefined {
  try {
    return name === undefined ? undefined : decodeURIComponent(name)
  } catch {
    return undefined
  }
}

/** Browsers must not guess another content type. */
function headersOf({ outcome }: Answer): Record<string, string> {
  const status = webhookStatuses[outcome]
  return {
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    ...(status === 503 ? { 'retry-after': '30' } : {}),
    ...(status === 405 ? { allow: 'POST' } : {}),
  }
}
