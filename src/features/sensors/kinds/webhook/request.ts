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
  const { method = '', headers } = request
  return await readWithin(limits, { method, headers }, (maxBytes) => bodyOf(request, maxBytes))
}

/** Reads a delivery that comes as a Fetch request, within the same limits. */
export async function readFetchRequest(
  request: Request,
  limits: WebhookLimits = {},
): Promise<WebhookRequest> {
  const headers = Object.fromEntries(request.headers)
  return await readWithin(limits, { method: request.method, headers }, async (maxBytes) => {
    const chunks: Uint8Array[] = []
    let length = 0
    const reader = request.body?.getReader()
    try {
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
        length += part.value.length
        if (length > maxBytes) return tooLarge(maxBytes)
        chunks.push(part.value)
      }
    } catch {
      return { kind: 'malformed', reason: 'the body broke off' }
    }
    return { kind: 'read', headers, body: Buffer.concat(chunks) }
  })
}

async function readWithin(
  limits: WebhookLimits,
  head: Head,
  readBody: (maxBytes: number) => Promise<WebhookRequest>,
): Promise<WebhookRequest> {
  const { maxBytes = 262_144, timeoutMs = 10_000, clock = systemClock } = limits
  const refused = refusedByHeaders(head, maxBytes)
  if (refused !== undefined) return refused
  const over = new AbortController()
  const reason = `the body did not arrive within ${timeoutMs} ms`
  const late = clock.sleep(timeoutMs, over.signal).then(() => ({ kind: 'too-slow', reason }) as const)
  const read = await Promise.race([readBody(maxBytes), late])
  over.abort()
  return read
}

interface Head {
  readonly method: string
  readonly headers: WebhookHeaders
}

function refusedByHeaders({ method, headers }: Head, maxBytes: number): WebhookRequest | undefined {
  if (method !== 'POST') return { kind: 'wrong-method', reason: `${method.slice(0, 20)} is not POST` }
  const [type = '', ...parameters] = String(headers['content-type'] ?? '').split(';')
  if (!/^application\/(?:[\w.+-]+\+)?json$/i.test(type.trim())) {
    return { kind: 'wrong-type', reason: 'the content type is not application/json' }
  }
  if (!parameters.every(isUtf8OrNoCharset)) return { kind: 'wrong-type', reason: 'the charset is not UTF-8' }
  if (String(headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
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
