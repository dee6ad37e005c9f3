import { refuse } from '../../../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../../../kernel/definition/faults.js'
import { frozen } from '../../../../kernel/definition/frozen.js'
import {
  readChoice,
  readDuration,
  readFlag,
  readOptions,
  readWhole,
} from '../../../../kernel/definition/read-value.js'
import { MAX_DURATION_MS } from '../../../../time/duration.js'
import type { S3Object, S3Place } from './pages.js'

/** The options of an S3 sensor. */
export interface S3SensorOptions {
  readonly bucket: string
  /** Only keys with this prefix are listed. */
  readonly prefix?: string | undefined
  /** The partition of a key; undefined leaves the key out. Default: the first valid date in the key, otherwise the day of its last change. */
  readonly partition?: ((key: string, object: S3Object) => string | undefined) | undefined
  /** Whether an object that is overwritten with other content is found again; default: false. */
  readonly version?: boolean | undefined
  /** How long an object must have been unchanged; default: 0, because S3 never shows a partial object. */
  readonly settle?: string | number | undefined
  /** `now` leaves out the objects that exist at the first poll; default: `beginning`. */
  readonly startFrom?: 'beginning' | 'now' | undefined
  /** The URL of a server other than AWS. */
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  /** Whether the bucket is named in the path; default: true with an endpoint. */
  readonly forcePathStyle?: boolean | undefined
  /** Whether keys sort by time, so that old ones need not be listed again. */
  readonly ordered?: boolean | undefined
  /** With `ordered`: how long after greater keys a key may still appear; default: one day. */
  readonly lookBack?: string | number | undefined
  /** How many keys one request lists, at most 1000; default: 1000. */
  readonly pageSize?: number | undefined
  /** How many keys one poll lists before it returns what it has; default: 20,000. */
  readonly keysPerPoll?: number | undefined
}

/** The checked options of an S3 sensor. */
export interface S3Config extends S3Place {
  readonly partition: S3SensorOptions['partition']
  readonly version: boolean
  readonly settleMs: number
  readonly startFrom: 'beginning' | 'now'
  readonly lookBackMs: number | undefined
  readonly pageSize: number
  readonly keysPerPoll: number
}

/** Reads the options of an S3 sensor; throws one error with all faults. */
export function readS3Options(options: S3SensorOptions): S3Config {
  const place = placeOf()
  const written = readOptions(options, optionNames, place) ?? {}
  const at = (name: string): Place => within(place, name)
  const text = (name: string): string | undefined => readText(written[name], at(name))
  const bucket = text('bucket')
  if (bucket === undefined && written['bucket'] === undefined)
    fault(at('bucket'), 'a bucket is needed', 'its name')
  const endpoint = readEndpoint(text('endpoint'), at('endpoint'))
  const isOrdered = readFlag(written['ordered'], at('ordered')) ?? false
  const lookBackMs = readDuration(written['lookBack'], anyDuration, at('lookBack'))
  if (lookBackMs !== undefined && !isOrdered) fault(at('lookBack'), 'it needs ordered: true')
  const { partition } = options
  if (partition !== undefined && typeof partition !== 'function')
    fault(at('partition'), `${shown(partition)} is not a function`, 'a function of the key')
  const config = {
    bucket: bucket ?? '',
    prefix: text('prefix') ?? '',
    endpoint,
    region: text('region'),
    forcePathStyle: readFlag(written['forcePathStyle'], at('forcePathStyle')) ?? endpoint !== undefined,
    partition,
    version: readFlag(written['version'], at('version')) ?? false,
    settleMs: readDuration(written['settle'], anyDuration, at('settle')) ?? 0,
    startFrom: readChoice(written['startFrom'], ['beginning', 'now'], at('startFrom')) ?? 'beginning',
    lookBackMs: isOrdered ? (lookBackMs ?? dayMs) : undefined,
    pageSize: readWhole(written['pageSize'], { min: 1, max: 1000 }, at('pageSize')) ?? 1000,
    keysPerPoll: readWhole(written['keysPerPoll'], { min: 1, max: 1_000_000 }, at('keysPerPoll')) ?? 20_000,
  }
  refuse('the S3 sensor', place.faults)
  return frozen(config)
}

const optionNames: readonly (keyof S3SensorOptions)[] = [
  'bucket',
  'prefix',
  'partition',
  'version',
  'settle',
  'startFrom',
  'endpoint',
  'region',
  'forcePathStyle',
  'ordered',
  'lookBack',
  'pageSize',
  'keysPerPoll',
]

const dayMs = 86_400_000
const anyDuration = { min: 0, max: MAX_DURATION_MS, allowed: 'at most 36525 days' }

function readText(value: unknown, place: Place): string | undefined {
  if (value === undefined || (typeof value === 'string' && value.length <= 2048)) return value
  return fault(place, `${shown(value)} is not a text`, 'a text')
}

function readEndpoint(value: string | undefined, place: Place): string | undefined {
  if (value === undefined || /^https?:\/\/[^/]/.test(value)) return value
  return fault(place, `${shown(value)} is not an address`, 'such as https://minio.example.net:9000')
}
