import { createHash } from 'node:crypto'
import { isUtf8 } from 'node:buffer'
import { canonicalJson } from '../../../../kernel/identity/canonical-json.js'
import type { Json } from '../../../../kernel/definition/json.js'
import type { ConfiguredSensor, PollContext, PollResult, Sensor } from '../../sensor.js'
import {
  followRedirects,
  nameOf,
  shorten,
  type FollowedAnswer,
} from '../../../../outbound/follow-redirects.js'
import { requestFailed, type OutgoingRequest } from '../../../../outbound/http-request.js'
import { isSecretHeader } from '../../../../kernel/definition/secret-text.js'
import { maskSecrets, secretsOf } from '../../../../outbound/secrets.js'
import { messageOf, pickObservation, pickValue } from '../body-pick.js'
import { readHttpConfig, type HttpSensorConfig, type HttpSensorOptions } from './options.js'
import { flag, mapOf, optional, text, type StateOf } from '../state-table.js'
import { limited } from '../time-limit.js'

/** The state of an HTTP sensor: the last key, and the validators of the last answer. */
export const httpState = mapOf({
  key: optional(text),
  hasLooked: optional(flag),
  etag: optional(text),
  lastModified: optional(text),
  /** A digest of the settings that evaluated the answer: other settings may evaluate the same answer differently. */
  judgedBy: optional(text),
})

/** The state of an HTTP sensor. */
export type HttpSensorState = StateOf<typeof httpState>

/** A sensor that polls a URL, and finds each new partition or key once. */
export function httpSensor(options: HttpSensorOptions): ConfiguredSensor<HttpSensorConfig, HttpSensorState> {
  return { type: 'http', sensor, config: readHttpConfig(options) }
}

const sensor: Sensor<HttpSensorConfig, HttpSensorState> = {
  init: () => ({ kind: 'ok', state: {} }),
  poll: async (state, context) => {
    const result = await request(state, context).catch((error: unknown) => failed(messageOf(error), state))
    if (result.kind === 'trigger' || result.reason === undefined) return result
    return { ...result, reason: maskSecrets(result.reason, secretsOf(context.config.request.headers)) }
  },
}

function failed(reason: string, state: HttpSensorState): PollResult<HttpSensorState> {
  return { kind: 'error', reason, state }
}

async function request(
  state: HttpSensorState,
  context: PollContext<HttpSensorConfig>,
): Promise<PollResult<HttpSensorState>> {
  const { config } = context
  const request = conditional(config, state)
  const { privateTargets, resolve, maxBytes: maxBodyBytes } = config
  const followed = await limited(context.signal, config.timeoutMs, (signal) =>
    followRedirects(request, { privateTargets, resolve, maxBodyBytes, signal }),
  )
  const { status } = followed.answer
  const isAsked = request !== config.request && followed.request === request
  if (status === 304 && isAsked) return { kind: 'no-trigger', reason: 'not modified', state }
  if (status !== 200) return failed(statusReason(followed), state)
  return await evaluate(followed, state, config)
}

/** Sends a conditional request if the last answer was evaluated with the same settings. */
function conditional(config: HttpSensorConfig, state: HttpSensorState): OutgoingRequest {
  const { request } = config
  const { etag, lastModified } = state
  const isKnown = etag !== undefined || lastModified !== undefined
  if (request.method !== 'GET' || !isKnown || state.judgedBy !== settingsDigestOf(config)) return request
  return {
    ...request,
    headers: {
      ...(etag === undefined ? {} : { 'if-none-match': etag }),
      ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
      ...request.headers,
    },
  }
}

/** Functions count by their source text. Secrets are left out: a digest of a short one could be guessed. */
function settingsDigestOf(config: HttpSensorConfig): string {
  const { request, ready, partition, key } = config
  const headers = Object.entries(request.headers).filter(([name]) => !isSecretHeader(name))
  const settings = [
    request.url.href,
    headers,
    config.parse,
    ...[ready, partition, key].map((one) => one?.source ?? ''),
  ]
  return createHash('sha256').update(canonicalJson(settings)).digest('base64url').slice(0, 22)
}

function statusReason({ request, answer }: FollowedAnswer): string {
  const text = answer.body.toString('utf8').trim()
  const said = text === '' ? '' : `: ${shorten(text)}`
  return `http_status ${answer.status}: ${nameOf(request)} answered ${answer.status}${said}`
}

async function evaluate(
  followed: FollowedAnswer,
  before: HttpSensorState,
  config: HttpSensorConfig,
): Promise<PollResult<HttpSensorState>> {
  const body = bodyOf(followed, config)
  const known = before.key === undefined ? {} : { key: before.key }
  const state: HttpSensorState = { ...validatorsOf(followed, config), ...known, hasLooked: true }
  const ready = await pickValue('ready', config.ready.pick, body)
  if (ready !== true) return { kind: 'no-trigger', reason: 'not ready', state }
  // If it throws, the state stays: the answer is requested again without conditions, as its validators are not stored.
  const found = await pickObservation(config, body)
  const next = { ...state, key: found.key }
  if (found.key === before.key)
    return { kind: 'no-trigger', reason: `${found.key} was found before`, state: next }
  if (config.startFrom === 'now' && before.hasLooked !== true) {
    return { kind: 'no-trigger', reason: `${found.key} was there at the start`, state: next }
  }
  return { kind: 'trigger', observations: [found], state: next }
}

function bodyOf({ request, answer }: FollowedAnswer, config: HttpSensorConfig): Json {
  const { body, isCut } = answer
  if (isCut) throw requestFailed(`${nameOf(request)} answered with more than ${config.maxBytes} bytes`)
  if (!isUtf8(body)) throw requestFailed(`${nameOf(request)} answered with bytes that are not UTF-8`)
  const text = body.toString('utf8')
  if (config.parse === 'text') return text
  try {
    return JSON.parse(text) as Json
  } catch {
    throw requestFailed(
      `${nameOf(request)} answered with a body that is not JSON: ${shorten(text.slice(0, 200))}`,
    )
  }
}

/** The validators of an answer. An answer after redirects has none: they may lead elsewhere next time. */
function validatorsOf({ request, answer }: FollowedAnswer, config: HttpSensorConfig): HttpSensorState {
  const { etag, 'last-modified': lastModified } = answer.headers
  if (request.url !== config.request.url) return {}
  return {
    ...(isStorable(etag) ? { etag } : {}),
    ...(isStorable(lastModified) ? { lastModified } : {}),
    judgedBy: settingsDigestOf(config),
  }
}

function isStorable(header: string | undefined): header is string {
  return header !== undefined && header.length <= 512
}
