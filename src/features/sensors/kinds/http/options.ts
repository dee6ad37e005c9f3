import { refuse } from '../../../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../../../kernel/definition/faults.js'
import type { Json } from '../../../../kernel/definition/json.js'
import {
  isMap,
  readChoice,
  readDuration,
  readOptions,
  readWhole,
  type Written,
} from '../../../../kernel/definition/read-value.js'
import type { PrivateTargets } from '../../../../outbound/address-rules.js'
import type { OutgoingRequest, Resolve } from '../../../../outbound/http-request.js'
import { readPick, type BodyPick, type Picker } from '../body-pick.js'
import { parseJsonPath } from '../json-path.js'

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

/** The checked options of an HTTP sensor. */
export interface HttpSensorConfig {
  readonly request: OutgoingRequest
  readonly ready: Picker
  readonly partition: Picker
  readonly key: Picker | undefined
  readonly payload: Picker | undefined
  readonly parse: 'json' | 'text'
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly startFrom: 'beginning' | 'now'
  readonly privateTargets: PrivateTargets
  readonly resolve: Resolve | undefined
}

/** Reads the options of an HTTP sensor; throws one error with all faults. */
export function readHttpConfig(options: HttpSensorOptions): HttpSensorConfig {
  const place = placeOf()
  const config = readConfig(options, place)
  refuse('the HTTP sensor', place.faults)
  return config as HttpSensorConfig
}

const optionNames = [
  'url',
  'method',
  'headers',
  'body',
  'ready',
  'partition',
  'key',
  'payload',
  'parse',
  'timeout',
  'maxBytes',
  'startFrom',
  'privateTargets',
  'resolve',
]

function readConfig(options: HttpSensorOptions, place: Place): HttpSensorConfig | undefined {
  const input = readOptions(options, optionNames, place)
  if (input === undefined) return undefined
  const pick = (name: string): Picker | undefined => readPick(input, name, place)
  const choice = <T extends string>(name: string, words: readonly T[]): T | undefined =>
    readChoice(input[name], words, within(place, name))
  const request = readRequest(input, place)
  const timeoutMs = readDuration(input['timeout'], timeoutBounds, within(place, 'timeout'))
  const maxBytes = readWhole(input['maxBytes'], { min: 1, max: 16 * mebibyte }, within(place, 'maxBytes'))
  const config = {
    ready: pick('ready') ?? pathTo('ready'),
    partition: pick('partition') ?? pathTo('partition'),
    key: pick('key'),
    payload: pick('payload'),
    parse: choice('parse', ['json', 'text']) ?? 'json',
    timeoutMs: timeoutMs ?? 30_000,
    maxBytes: maxBytes ?? mebibyte,
    startFrom: choice('startFrom', ['beginning', 'now']) ?? 'beginning',
    privateTargets: choice('privateTargets', ['allow', 'refuse']) ?? 'allow',
    resolve: options.resolve,
  }
  return request === undefined ? undefined : { ...config, request }
}

const mebibyte = 1024 * 1024
const timeoutBounds = { min: 1, max: 600_000, allowed: 'from 1 ms to 10m' }

function pathTo(path: string): Picker {
  return { source: path, pick: parseJsonPath(path) }
}

function readRequest(input: Written, place: Place): OutgoingRequest | undefined {
  const url = readUrl(input['url'], within(place, 'url'))
  const method = readMethod(input['method'], within(place, 'method'))
  const given = readHeaders(input['headers'], within(place, 'headers'))
  if (url === undefined || method === undefined || given === undefined) return undefined
  const body = input['body'] === undefined ? undefined : JSON.stringify(input['body'])
  const headers: Record<string, string> = {
    accept: 'application/json, */*;q=0.5',
    'accept-encoding': 'identity',
    'user-agent': 'rota',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...given,
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  }
  return { url, method, headers, body }
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
  const before = place.faults.length
  const headers: Record<string, string> = {}
  for (const [name, text] of Object.entries(value)) {
    const isName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)
    // The text may be a secret, so it is not shown.
    const isText = typeof text === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
    if (!isName || !isText) fault(within(place, name), `not a header${isName ? ': its text is none' : ''}`)
    else headers[name.toLowerCase()] = text
  }
  return place.faults.length > before ? undefined : headers
}
