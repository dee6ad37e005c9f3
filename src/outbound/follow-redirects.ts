import { RotaError } from '../kernel/definition/errors.js'
import { boundText } from '../kernel/definition/bounds.js'
import { printable } from '../text/printable.js'
import {
  requestFailed,
  sendRequest,
  type Answer,
  type OutgoingRequest,
  type RequestRules,
} from './http-request.js'
import { isSecretHeader } from '../kernel/definition/secret-text.js'

/** The last answer, and the request that it answers: a different one after redirects. */
export interface FollowedAnswer {
  readonly request: OutgoingRequest
  readonly answer: Answer
}

/**
 * Sends a request and follows at most five redirects; every target is checked like the first. Throws if a target is
 * refused or does not answer.
 */
export async function followRedirects(
  first: OutgoingRequest,
  rules: RequestRules,
  onRedirect: (status: number, place: string) => void = () => undefined,
): Promise<FollowedAnswer> {
  let request = first
  for (let redirects = 0; ; redirects++) {
    const answer = await answerTo(request, rules)
    const target = redirectOf(answer, request)
    if (target === undefined) return { request, answer }
    if (redirects === maxRedirects)
      throw requestFailed(`more than ${maxRedirects} redirects, last to ${placeOf(target)}`)
    onRedirect(answer.status, placeOf(target))
    request = redirected(request, { target, status: answer.status })
  }
}

const maxRedirects = 5

/** The method and the URL of a request, for messages. */
export function nameOf(request: OutgoingRequest): string {
  return `${request.method} ${placeOf(request.url)}`
}

/** The beginning of a body as printable text. */
export function shorten(text: string): string {
  return printable(boundText(text.trim(), 500))
}

async function answerTo(request: OutgoingRequest, rules: RequestRules): Promise<Answer> {
  try {
    return await sendRequest(request, rules)
  } catch (error) {
    throw error instanceof RotaError
      ? error
      : requestFailed(`${nameOf(request)} failed: ${reasonOf(error, request)}`, error)
  }
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

function redirectOf(answer: Answer, request: OutgoingRequest): URL | undefined {
  const { location } = answer.headers
  if (!redirectStatuses.has(answer.status) || location === undefined) return undefined
  if (!URL.canParse(location, request.url.href))
    throw requestFailed(`redirected to ${shorten(location)}, which is not a URL`)
  const target = new URL(location, request.url)
  if (target.protocol === 'http:' || target.protocol === 'https:') return target
  throw requestFailed(`redirected to ${target.protocol}, which is neither http: nor https:`)
}

/**
 * The request after a redirect: without a body if the status demands it, without secrets if another origin would get
 * them, and without conditions, which apply to the first address.
 */
function redirected(
  request: OutgoingRequest,
  { target, status }: { target: URL; status: number },
): OutgoingRequest {
  const isFetched = status === 303 || (status < 303 && request.method === 'POST')
  const keepsBody = !isFetched || request.method === 'HEAD'
  const isSameOrigin = target.origin === request.url.origin
  const headers = Object.entries(request.headers).filter(([name]) => {
    if (!keepsBody && (name === 'content-type' || name === 'content-length')) return false
    return !conditions.has(name) && (isSameOrigin || !isSecretHeader(name))
  })
  return {
    url: target,
    method: keepsBody ? request.method : 'GET',
    headers: Object.fromEntries(headers),
    body: keepsBody ? request.body : undefined,
  }
}

const conditions: ReadonlySet<string> = new Set(['if-none-match', 'if-modified-since'])

/** A URL without its query, which may contain a key. */
function placeOf(url: URL): string {
  return printable(`${url.origin}${url.pathname}`.slice(0, 300)) + (url.search === '' ? '' : '?…')
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
