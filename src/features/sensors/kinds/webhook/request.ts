import type { IncomingMessage } from 'node:http'
import { systemClock, type Clock } from '../../../../time/clock.js'
import type { WebhookHeaders } from './verify.js'

/** The outcome of a delivery. */
export type WebhookOutcome =
  | 'accepted'
  | 'duplicate'
  | 'malformed'
  | 'unsigned'
  | 'unknown-sensor'
  | 'wrong-method'
  | 'too-slow'
  | 'too-large'
  | 'wrong-type'
  | 'paused'
  | 'store-away'

/** The HTTP status of an outcome. Senders retry everything but a success: a duplicate is a success, a pause is not. */
export const webhookStatuses: Readonly<Record<WebhookOutcome, number>> = {
  accepted: 202,
  duplicate: 200,
  malformed: 400,
  unsigned: 401,
  'unknown-sensor': 404,
  'wrong-method': 405,
  'too-slow': 408,
  'too-large': 413,
  'wrong-type': 415,
  paused: 503,
  'store-away': 503,
}

/** A delivery, or why it was not read completely; its connection cannot be reused then. */
export type WebhookRequest =
  | { readonly kind: 'read'; readonly headers: WebhookHeaders; readonly body: Buffer }
  | {
      readonly kind: 'malformed' | 'wrong-method' | 'too-slow' | 'too-large' | 'wrong-type'
      readonly reason: string
    }

/** The size limit and the time limit of a delivery. */
export interface WebhookLimits {
  /** Default: 256 KiB, the size limit of a payload. */
  readonly maxBytes?: number | undefined
  /** Default: 10 s. */
  readonly timeoutMs?: number | undefined
  readonly clock?: Clock | undefined
}

/** Reads the raw body of a delivery within limits; a delivery that is refused by its headers is not read at all. */
export async function readWebhookRequest(
  request: IncomingMessage,
  limits: WebhookLimits = {},
): Promise<WebhookRequest> {
  const maxBytes = limits.maxBytes ?? 262_144
  const refused = refusedByHeaders(request, maxBytes)
  if (refused !== undefined) return refused
  const { timeoutMs = 10_000, clock = systemClock } = limits
  const over = new AbortController()
  const reason = `the body did not come within ${timeoutMs} ms`
  const late = clock.sleep(timeoutMs, over.signal).then(() => ({ kind: 'too-slow', reason }) as const)
  const read = await Promise.race([bodyOf(request, maxBytes), late])
  over.abort()
  return read
}

function refusedByHeaders(request: IncomingMessage, maxBytes: number): WebhookRequest | undefined {
  const { method = '', headers } = request
  if (method !== 'POST') return { kind: 'wrong-method', reason: `${method.slice(0, 20)} is not POST` }
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';')
  if (!/^application\/(?:[\w.+-]+\+)?json$/i.test(type.trim())) {
    return { kind: 'wrong-type', reason: 'the content type is not application/json' }
  }
  if (!parameters.every(isUtf8OrNoCharset)) return { kind: 'wrong-type', reason: 'the charset is not UTF-8' }
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    return { kind: 'wrong-type', reason: 'a compressed body is not read' }
  }
  return Number(headers['content-length'] ?? 0) > maxBytes ? tooLarge(maxBytes) : undefined
}

function isUtf8OrNoCharset(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=')
  return name.trim().toLowerCase() !== 'charset' || /^"?utf-?8"?$/i.test(value.trim())
}

function tooLarge(maxBytes: number): WebhookRequest {
  return { kind: 'too-large', reason: `the body is larger than ${maxBytes} bytes` }
}

/** Reads with events: leaving a loop over the request would destroy the connection of the answer. */
function bodyOf(request: IncomingMessage, maxBytes: number): Promise<WebhookRequest> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    const broken = (): void => resolve({ kind: 'malformed', reason: 'the body broke off' })
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) chunks.push(chunk)
      else {
        request.pause()
        resolve(tooLarge(maxBytes))
      }
    })
    request.on('end', () => resolve({ kind: 'read', headers: request.headers, body: Buffer.concat(chunks) }))
    request.on('error', broken)
    request.on('close', broken)
  })
}
