import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { callbackify, promisify } from 'node:util'
import { RotaError } from '../kernel/definition/errors.js'
import { refusedAddress, refusedHost, type PrivateTargets } from './address-rules.js'

/** Returns all addresses of a host. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

/** One request, to be sent once. */
export interface OutgoingRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Which addresses a request may reach, and the signal that aborts it. */
export interface RequestRules {
  readonly privateTargets: PrivateTargets
  /** Resolves host names to addresses; default: the system resolver. */
  readonly resolve?: Resolve | undefined
  readonly signal: AbortSignal
  /** How many bytes of a body are kept; default: 64 KiB. */
  readonly maxBodyBytes?: number | undefined
}

/** The answer to a request: the beginning of its body, and whether there was more. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  readonly isCut: boolean
}

/**
 * Sends one request and reads the beginning of its answer, without following redirects. The checked address is the
 * one that is connected to: the connection resolves the name once, through the same check, and is never reused.
 */
export async function sendRequest(outgoing: OutgoingRequest, rules: RequestRules): Promise<Answer> {
  const { url } = outgoing
  const refused = refusedHost(url.hostname, rules.privateTargets)
  if (refused !== undefined) throw refusal(refused)
  const response = await responseTo(outgoing, rules)
  const { body, isCut } = await beginningOf(response, rules.maxBodyBytes ?? defaultBodyBytes)
  return { status: response.statusCode ?? 0, headers: response.headers, body, isCut }
}

const defaultBodyBytes = 65_536

/** The error of a request that could not be sent or was not answered. */
export function requestFailed(message: string, cause?: unknown): RotaError {
  return new RotaError('HANDLER_FAILED', message, { cause })
}

function responseTo(outgoing: OutgoingRequest, rules: RequestRules): Promise<IncomingMessage> {
  const { url, method, headers, body } = outgoing
  const options: RequestOptions = {
    method,
    headers,
    agent: false,
    lookup: checkedLookup(rules),
    signal: rules.signal,
  }
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    const request = send(url, options, resolve)
    request.on('error', reject)
    request.end(body)
  })
}

function checkedLookup(rules: RequestRules): LookupFunction {
  const resolve = callbackify((hostname: string) => checkedAddresses(hostname, rules))
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null || first === undefined) callback(error, [])
      else if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

/** All addresses of a host; one refused address refuses the host, since any of them may be connected to. */
async function checkedAddresses(hostname: string, rules: RequestRules): Promise<LookupAddress[]> {
  const addresses = await (rules.resolve ?? resolveBySystem)(hostname)
  if (addresses.length === 0) throw requestFailed(`host not found: ${hostname}`)
  for (const { address } of addresses) {
    const refused = refusedAddress(address, rules.privateTargets)
    if (refused !== undefined) throw refusal(`${hostname} resolves to ${address}, ${refused}`)
  }
  return [...addresses]
}

const resolveBySystem: Resolve = (hostname) => promisify(systemLookup)(hostname, { all: true })

function refusal(why: string): Error {
  return requestFailed(`target refused: ${why}`)
}

/** Stops reading at the limit: an endless body would otherwise block the caller forever. */
async function beginningOf(
  response: IncomingMessage,
  maxBytes: number,
): Promise<{ body: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > maxBytes) break
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), isCut: length > maxBytes }
}
