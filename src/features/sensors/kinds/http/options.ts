import { refuse } from '../../../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../../../kernel/definition/faults.js'
import type { Json } from '../../../../kernel/definition/json.js'
import { choice, duration, readTable, required, whole } from '../../../../kernel/definition/option-table.js'
import { isMap, readChoice } from '../../../../kernel/definition/read-value.js'
import type { PrivateTargets } from '../../../../outbound/address-rules.js'
import type { Resolve } from '../../../../outbound/http-request.js'
import { pathTo, readPick, type BodyPick } from '../body-pick.js'

/** The options of an HTTP sensor. */
export interface HttpSensorOptions {
  readonly url: string
  /** Default: `GET`. */
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sent as JSON. */
  readonly body?: Json | undefined
  /** Whether there is an observation; default: `ready`, which must be exactly `true`. */
  readonly ready?: BodyPick<boolean> | undefined
  /** The partition of the observation; default: `partition`. */
  readonly partition?: BodyPick<string | number | undefined> | undefined
  /** The key of the observation; default: its partition. */
  readonly key?: BodyPick<string | number | undefined> | undefined
  /** The payload of the run, `$` for the whole body; default: none. */
  readonly payload?: BodyPick<Json | undefined> | undefined
  /** How the body is parsed; default: `json`. */
  readonly parse?: 'json' | 'text' | undefined
  /** The time limit of a request; default: 30 s. */
  readonly timeout?: string | number | undefined
  /** The size limit of a body in bytes; default: 1 MiB. */
  readonly maxBytes?: number | undefined
  /** `now` ignores an observation that is ready at the first poll; default: `beginning`. */
  readonly startFrom?: 'beginning' | 'now' | undefined
  /** Whether loopback and private addresses may be reached; default: `allow`. */
  readonly privateTargets?: PrivateTargets | undefined
  /** Resolves host names to addresses; default: the system resolver. */
  readonly resolve?: Resolve | undefined
}

const mebibyte = 1024 * 1024

const table = {
  url: required(readUrl),
  method: required(readMethod),
  headers: required(readHeaders),
  body: (value: unknown) => (value === undefined ? undefined : JSON.stringify(value)),
  ready: (value: unknown, place: Place) => readPick(value, place) ?? pathTo('ready'),
  partition: (value: unknown, place: Place) => readPick(value, place) ?? pathTo('partition'),
  key: readPick,
  payload: readPick,
  parse: choice('json', 'text'),
  timeout: duration({ min: 1, max: 600_000, allowed: 'from 1 ms to 10m' }, 30_000),
  maxBytes: whole({ min: 1, max: 16 * mebibyte }, mebibyte),
  startFrom: choice('beginning', 'now'),
  privateTargets: choice('allow', 'refuse'),
  resolve: (value: unknown) => value as Resolve | undefined,
}

/** The checked options of an HTTP sensor. */
export type HttpSensorConfig = ReturnType<typeof readHttpConfig>

/** Reads the options of an HTTP sensor; throws one error with all faults. */
export function readHttpConfig(options: HttpSensorOptions) {
  const place = placeOf()
  const { url, method, headers, body, timeout: timeoutMs, ...read } = readTable(options, table, place)
  refuse('the HTTP sensor', place.faults)
  const sent: Record<string, string> = {
    accept: 'application/json, */*;q=0.5',
    'accept-encoding': 'identity',
    'user-agent': 'rota',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  }
  return { ...read, timeoutMs, request: { url, method, headers: sent, body } }
}

function readUrl(value: unknown, place: Place): URL | undefined {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  return fault(place, `${shown(value)} is not an address`, 'http://… or https://…')
}

function readMethod(value: unknown, place: Place): string | undefined {
  if (value === undefined) return 'GET'
  const method = typeof value === 'string' ? value.toUpperCase() : undefined
  return readChoice(method ?? value, ['GET', 'POST', 'PUT', 'PATCH', 'QUERY'], place)
}

/** The headers by lower-case name, so that none occurs twice. */
function readHeaders(value: unknown, place: Place): Record<string, string> | undefined {
  if (value === undefined) return {}
  if (!isMap(value)) return fault(place, `a map of headers was expected, not ${shown(value)}`)
  const headers: Record<string, string> = {}
  for (const [name, text] of Object.entries(value)) {
    const isName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)
    // The text may be a secret, so it is not shown.
    const isText = typeof text === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
    if (!isName || !isText) fault(within(place, name), `not a header${isName ? ': its text is none' : ''}`)
    else headers[name.toLowerCase()] = text
  }
  return headers
}
