import { isUtf8 } from 'node:buffer'
import { boundText, maxResultBytes } from '../model/bounds.js'
import { RotaError } from '../model/errors.js'
import type { HttpSpec } from '../model/job.js'
import type { Json } from '../model/json.js'
import type { PrivateTargets } from './address-rules.js'
import { handlerFailed, stoppedError, type HandlerContext } from './handler-context.js'
import { sendRequest, type Answer, type OutgoingRequest, type Resolve } from './http-request.js'
import { printable, wholeCharacters } from './printable.js'
import { isSecretHeader, maskSecrets } from './secrets.js'

/** What a request needs beside its run. */
export interface HttpContext extends HandlerContext {
  /** Whether loopback and private addresses may be reached; metadata and link-local ones never are. */
  readonly privateTargets: PrivateTargets
  /** How names become addresses; the system's way unless said otherwise. */
  readonly resolve?: Resolve | undefined
}

/**
 * Sends the request of a job and follows redirects. Resolves with the status and the beginning of the body; throws where
 * the target is refused or does not answer, the status is 400 or more, or the attempt was stopped.
 */
export async function performHttp(spec: HttpSpec, context: HttpContext): Promise<Json> {
  let request = firstRequest(spec, context)
  for (let redirects = 0; ; redirects++) {
    const answer = await answerTo(request, context)
    const target = redirectOf(answer, request)
    if (target === undefined) return resultOf({ request, answer, spec })
    if (redirects === maxRedirects)
      throw handlerFailed(`more than ${maxRedirects} redirects, last to ${placeOf(target)}`)
    context.log('debug', `${answer.status}: redirected to ${placeOf(target)}`)
    request = redirected(request, { target, status: answer.status })
  }
}

const maxRedirects = 5

async function answerTo(request: OutgoingRequest, context: HttpContext): Promise<Answer> {
  const { signal, privateTargets, resolve } = context
  if (signal.aborted) throw stoppedError(signal)
  try {
    return await sendRequest(request, { signal, privateTargets, resolve })
  } catch (error) {
    if (signal.aborted) throw stoppedError(signal)
    throw error instanceof RotaError
      ? error
      : handlerFailed(`${nameOf(request)} failed: ${reasonOf(error, request)}`, error)
  }
}

function firstRequest(spec: HttpSpec, { run }: HttpContext): OutgoingRequest {
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
  for (const [name, text] of Object.entries(spec.headers ?? {})) headers[name.toLowerCase()] = text
  return { url: new URL(spec.url), method, headers: withLength(headers, body), body }
}

const methodsWithPayload: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

function withLength(headers: Record<string, string>, body: string | undefined): Record<string, string> {
  return body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) }
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

function redirectOf(answer: Answer, request: OutgoingRequest): URL | undefined {
  const { location } = answer.headers
  if (!redirectStatuses.has(answer.status) || location === undefined) return undefined
  if (!URL.canParse(location, request.url.href))
    throw handlerFailed(`redirected to ${shorten(location)}, which is no address`)
  const target = new URL(location, request.url)
  if (target.protocol === 'http:' || target.protocol === 'https:') return target
  throw handlerFailed(`redirected to ${target.protocol}, which is neither http: nor https:`)
}

/** The request that follows: without a body where the status says so, without secrets where another origin would get them. */
function redirected(
  request: OutgoingRequest,
  { target, status }: { target: URL; status: number },
): OutgoingRequest {
  const isFetched = status === 303 || (status < 303 && request.method === 'POST')
  const keepsBody = !isFetched || request.method === 'HEAD'
  const isSameOrigin = target.origin === request.url.origin
  const headers = Object.entries(request.headers).filter(([name]) => {
    if (!keepsBody && (name === 'content-type' || name === 'content-length')) return false
    return isSameOrigin || !isSecretHeader(name)
  })
  return {
    url: target,
    method: keepsBody ? request.method : 'GET',
    headers: Object.fromEntries(headers),
    body: keepsBody ? request.body : undefined,
  }
}

function resultOf(input: { request: OutgoingRequest; answer: Answer; spec: HttpSpec }): Json {
  const { request, answer, spec } = input
  const text = maskSecrets(textOf(answer), spec.headers ?? {})
  if (answer.status >= 400) {
    const said = text.trim() === '' ? '' : `: ${shorten(text)}`
    throw handlerFailed(`${nameOf(request)} answered ${answer.status}${said}`)
  }
  return { status: answer.status, body: bodyOf(answer, text) }
}

/** JSON as a value where it came whole, everything else as text; either way small enough to be stored. */
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

/** Escapes make JSON longer than its text, so the text is shortened until it fits with them. */
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

function nameOf(request: OutgoingRequest): string {
  return `${request.method} ${placeOf(request.url)}`
}

/** An address without its query, which may carry a key. */
function placeOf(url: URL): string {
  return printable(`${url.origin}${url.pathname}`.slice(0, 300)) + (url.search === '' ? '' : '?…')
}

function shorten(text: string): string {
  return printable(boundText(text.trim(), 500))
}

function reasonOf(error: unknown, { url }: OutgoingRequest): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined) return message
  return wordsFor(code, url) ?? (message === '' ? code : `${message} (${code})`)
}

function wordsFor(code: string, url: URL): string | undefined {
  if (code === 'ENOTFOUND') return `host not found: ${url.hostname}`
  if (code === 'EAI_AGAIN') return `host could not be looked up: ${url.hostname}`
  if (code === 'ECONNREFUSED') return `connection refused by ${url.host}`
  return code === 'ECONNRESET' ? `connection broken by ${url.host}` : undefined
}
