import type { Json } from '../kernel/definition/json.js'
import type { SecretText } from '../kernel/definition/secret-text.js'
import { followRedirects, shorten } from '../outbound/follow-redirects.js'
import { maskSecrets, resolveTexts, type SecretPlaces } from '../outbound/secrets.js'
import { handlerFailed } from './handler-context.js'

/** The content of a request. */
export interface Post {
  readonly body: string
  /** Default: JSON. */
  readonly type?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Texts that must not appear in answers and errors. */
  readonly secrets?: readonly string[] | undefined
  /** Changes the given address; default: unchanged. */
  readonly at?: ((url: URL) => URL) | undefined
  /** Whether private addresses may be reached; default: allow. */
  readonly privateTargets?: 'allow' | 'refuse' | undefined
}

/** Sends a text to an address that may be a secret. Resolves with the status; throws, without secrets, from 300 on. */
export async function postTo(
  url: SecretText,
  { body, type = 'application/json', headers = {}, secrets: more = [], ...post }: Post,
  context: SecretPlaces & { readonly signal: AbortSignal },
): Promise<Json> {
  const { texts, secrets } = await resolveTexts({ url }, context)
  const address = texts['url'] ?? ''
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw handlerFailed('the address is not an http or https URL')
  const sent = {
    'content-type': type,
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'rota',
    ...headers,
  }
  // The address may be a secret with parts that answers and errors repeat.
  const hidden = [...secrets, ...more, ...secrets.flatMap(partsOfUrl)]
  const mask = (text: string): string => maskSecrets(text, hidden)
  const { at = (given) => given, privateTargets = 'allow' } = post
  const rules = { privateTargets, signal: context.signal }
  const request = { url: at(new URL(address)), method: 'POST', headers: sent, body }
  const { answer } = await followRedirects(request, rules).catch((error: unknown) => {
    throw handlerFailed(mask(error instanceof Error ? error.message : String(error)))
  })
  if (answer.status < 300) return { status: answer.status }
  throw handlerFailed(
    mask(`the receiver answered ${answer.status}: ${shorten(answer.body.toString('utf8'))}`),
  )
}

function partsOfUrl(text: string): string[] {
  return URL.canParse(text) ? new URL(text).pathname.split('/').filter((part) => part.length >= 6) : []
}
