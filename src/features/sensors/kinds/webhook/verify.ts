import { isUtf8 } from 'node:buffer'
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Json } from '../../../../kernel/definition/json.js'

/** The headers of a request by lower-case name, as in `node:http`. */
export type WebhookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** A delivery with a verified sender, age and content. */
export interface VerifiedWebhook {
  readonly kind: 'verified'
  /** The id of the sender, the same for each of its attempts. */
  readonly id: string
  readonly sentAt: Date
  readonly content: Json
}

/** Why a delivery is refused. */
export interface WebhookRefusal {
  readonly kind: 'malformed' | 'unsigned'
  readonly reason: string
}

/** How far the time of a delivery may be from now, in both directions. */
export const webhookToleranceMs = 300_000

/**
 * Checks a delivery by the Standard Webhooks rules: the signature over id, time and the raw body, made with one of the
 * secrets, at most five minutes ago. The caller checks whether its id was seen before.
 */
export function verifyWebhook(delivery: {
  /** `whsec_` and base64; several during a rotation. */
  readonly secrets: readonly string[]
  readonly headers: WebhookHeaders
  /** The raw bytes. */
  readonly body: Uint8Array
  readonly now: Date
}): VerifiedWebhook | WebhookRefusal {
  const id = single(delivery.headers['webhook-id'], idPattern)
  const time = single(delivery.headers['webhook-timestamp'], timePattern)
  const signatures = single(delivery.headers['webhook-signature'], signaturesPattern)
  if (id === undefined || time === undefined || signatures === undefined) {
    return refusal('malformed', 'webhook-id, webhook-timestamp and webhook-signature are needed, each once')
  }
  const sentAt = Number(time) * 1000
  if (Math.abs(delivery.now.getTime() - sentAt) > webhookToleranceMs) {
    return refusal('unsigned', 'webhook-timestamp is more than five minutes from now')
  }
  const signed = Buffer.concat([Buffer.from(`${id}.${time}.`), delivery.body])
  if (!isSigned(signed, signatures, delivery.secrets)) {
    return refusal('unsigned', 'no signature was made with a secret of this sensor')
  }
  const content = contentOf(delivery.body)
  // A bare number could be split so that a part of it counts as the time; a map or a list cannot.
  if (typeof content !== 'object' || content === null) {
    return refusal('malformed', 'the body is not a JSON object or array')
  }
  return { kind: 'verified', id, sentAt: new Date(sentAt), content }
}

/** The key of a secret; undefined if it is invalid. `whsec_` may be omitted. */
export function webhookKeyOf(secret: string): Buffer | undefined {
  const text = secret.startsWith('whsec_') ? secret.slice(6) : secret
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined
  const key = Buffer.from(text, 'base64')
  return key.length >= 16 && key.length <= 128 ? key : undefined
}

const idPattern = /^[\x21-\x7e]{1,256}$/
const timePattern = /^[1-9]\d{0,11}$/
const signaturesPattern = /^[\x20-\x7e]{1,8192}$/

/** The single value of a header. Node joins repeated headers with a comma and a space, which no id and no time contains. */
function single(value: string | readonly string[] | undefined, pattern: RegExp): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined
}

/** Compares every signature with every secret, always all of them, to prevent timing attacks. */
function isSigned(signed: Buffer, signatures: string, secrets: readonly string[]): boolean {
  const given = signatures
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .slice(0, maxSignatures)
    .map((signature) => Buffer.from(signature.slice(3), 'base64'))
  let matches = 0
  for (const secret of secrets) {
    const key = webhookKeyOf(secret)
    if (key === undefined) continue
    const expected = createHmac('sha256', key).update(signed).digest()
    for (const one of given) {
      if (one.length === expected.length && timingSafeEqual(one, expected)) matches += 1
    }
  }
  return matches > 0
}

const maxSignatures = 16

function contentOf(body: Uint8Array): Json | undefined {
  if (!isUtf8(body)) return undefined
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as Json
  } catch {
    return undefined
  }
}

function refusal(kind: WebhookRefusal['kind'], reason: string): WebhookRefusal {
  return { kind, reason }
}
