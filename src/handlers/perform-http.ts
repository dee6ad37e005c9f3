import { isUtf8 } from 'node:buffer'
import { boundText, maxResultBytes } from '../kernel/definition/bounds.js'
import type { HttpSpec } from '../kernel/job/job.js'
import type { Json } from '../kernel/definition/json.js'
import { wholeCharacters } from '../text/printable.js'
import type { PrivateTargets } from '../outbound/address-rules.js'
import { followRedirects, nameOf, shorten, type FollowedAnswer } from '../outbound/follow-redirects.js'
import type { Answer, OutgoingRequest, Resolve } from '../outbound/http-request.js'
import {
  maskSecrets,
  resolveTexts,
  secretsOf,
  type ResolvedTexts,
  type SecretPlaces,
} from '../outbound/secrets.js'
import { handlerFailed, stoppedError, type HandlerContext } from './handler-context.js'

/** The input of a request handler. */
export interface HttpContext extends HandlerContext, SecretPlaces {
  /** Whether loopback and private addresses may be reached; metadata and link-local ones never are. */
  readonly privateTargets: PrivateTargets
  /** Resolves host names to addresses; default: the system resolver. */
  readonly resolve?: Resolve | undefined
}

/**
 * Sends the request of a job and follows redirects. Resolves with the status and the beginning of the body; throws if
 * the target is refused or does not answer, the status is 400 or more, or the attempt was aborted.
 */
export async function performHttp(spec: HttpSpec, context: HttpContext): Promise<Json> {
  const { signal, privateTargets, resolve } = context
  const tell = (status: number, place: string): void =>
    context.log('debug', `${status}: redirected to ${place}`)
  if (signal.aborted) throw stoppedError(signal)
  try {
    const headers = sendable(await resolveTexts(spec.headers, context))
    const first = firstRequest(spec, headers.texts, context)
    const followed = await followRedirects(first, { signal, privateTargets, resolve }, tell)
    return resultOf(followed, [...secretsOf(headers.texts), ...headers.secrets])
  } catch (error) {
    throw signal.aborted ? stoppedError(signal) : error
  }
}

/** A file or a variable may contain characters that a header cannot. */
function sendable(headers: ResolvedTexts): ResolvedTexts {
  for (const [name, text] of Object.entries(headers.texts)) {
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text))
      throw handlerFailed(`${name}: its text cannot be sent in a header`)
  }
  return headers
}

function firstRequest(spec: HttpSpec, own: ResolvedTexts['texts'], { run }: HttpContext): OutgoingRequest {
  const method = (spec.method ?? (spec.body === undefined ? 'GET' : 'POST')).toUpperCase()
  const payload = methodsWithPayload.has(method) ? run.payload : undefined
  const value = spec.body === undefined ? payload : spec.body
  const body = value === undefined ? undefined : JSON.stringify(value)
  const headers: Record<string, string> = {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'rota',
    'idempotency-key': run.id,
    'x-rota-attempt': String(run.attempt),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  for (const [name, text] of Object.entries(own)) headers[name.toLowerCase()] = text
  return { url: new URL(spec.url), method, headers: withLength(headers, body), body }
}

const methodsWithPayload: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

function withLength(headers: Record<string, string>, body: string | undefined): Record<string, string> {
  return body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) }
}

function resultOf({ request, answer }: FollowedAnswer, secrets: readonly string[]): Json {
  const text = maskSecrets(textOf(answer), secrets)
  if (answer.status >= 400) {
    const said = text.trim() === '' ? '' : `: ${shorten(text)}`
    const error = handlerFailed(`${nameOf(request)} answered ${answer.status}${said}`)
    throw Object.assign(error, { status: answer.status, retryAfterMs: retryAfterOf(answer) })
  }
  return { status: answer.status, body: bodyOf(answer, text) }
}

/** How long the answer asks to wait: in seconds, or until an instant by the clock of the one who answers. */
function retryAfterOf({ headers }: Answer): number | undefined {
  const after = headers['retry-after']?.trim() ?? ''
  if (/^\d{1,9}$/.test(after)) return Number(after) * 1000
  const ms = Date.parse(after) - Date.parse(headers['date'] ?? '')
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** A complete JSON body as a value, everything else as text; in both cases small enough to be stored. */
function bodyOf(answer: Answer, text: string): Json {
  const isJson = /^application\/([\w.+-]+\+)?json\b/i.test(answer.headers['content-type'] ?? '')
  const room = maxResultBytes - 64
  if (isJson && !answer.isCut && Buffer.byteLength(text) <= room) {
    try {
      return JSON.parse(text) as Json
    } catch {
      return text
    }
  }
  return boundJsonText(text, room)
}

/** Escapes make JSON longer than its text, so the text is shortened until the JSON fits. */
function boundJsonText(text: string, maxBytes: number): string {
  let kept = text
  let room = maxBytes - 2
  while (Buffer.byteLength(JSON.stringify(kept)) > maxBytes) {
    kept = boundText(text, room)
    room = Math.floor(room * 0.75)
  }
  return kept
}

function textOf({ body, headers, isCut }: Answer): string {
  const whole = isCut ? wholeCharacters(body, body.length - 3) : body
  if (isUtf8(whole)) return whole.toString('utf8')
  return `(${isCut ? 'more than ' : ''}${body.length} bytes of ${headers['content-type'] ?? 'an unnamed type'})`
}
