import { refuse } from '../../../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../../../kernel/definition/faults.js'
import { frozen } from '../../../../kernel/definition/frozen.js'
import {
  anyDuration,
  choice,
  duration,
  flag,
  functionOf,
  readTable,
  required,
  whole,
} from '../../../../kernel/definition/option-table.js'
import { readFlag } from '../../../../kernel/definition/read-value.js'
import type { Dated } from '../../../../time/dated.js'
import type { S3Object } from './listing.js'

/** The options of an S3 sensor. */
export interface S3SensorOptions {
  readonly bucket: string
  /** Only keys with this prefix are listed. */
  readonly prefix?: string | undefined
  /** The partition of a key; undefined leaves the key out. Default: the first valid date in the key, otherwise the day of its last change. */
  readonly partition?: ((key: string, object: Dated<S3Object>) => string | undefined) | undefined
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

const table = {
  bucket: required(readBucket),
  prefix: (value: unknown, place: Place) => readText(value, place) ?? '',
  partition: functionOf<S3SensorOptions['partition']>('the key'),
  version: flag(false),
  settle: duration(anyDuration, 0),
  startFrom: choice('beginning', 'now'),
  endpoint: readEndpoint,
  region: readText,
  forcePathStyle: readFlag,
  ordered: flag(false),
  lookBack: duration(anyDuration, undefined),
  pageSize: whole({ min: 1, max: 1000 }, 1000),
  keysPerPoll: whole({ min: 1, max: 1_000_000 }, 20_000),
}

/** The checked options of an S3 sensor. */
export type S3Config = ReturnType<typeof readS3Options>

/** Reads the options of an S3 sensor; throws one error with all faults. */
export function readS3Options(options: S3SensorOptions) {
  const place = placeOf()
  const { settle, ordered, lookBack, forcePathStyle, ...read } = readTable(options, table, place)
  if (lookBack !== undefined && !ordered) fault(within(place, 'lookBack'), 'it needs ordered: true')
  refuse('the S3 sensor', place.faults)
  return frozen({
    ...read,
    settleMs: settle,
    forcePathStyle: forcePathStyle ?? read.endpoint !== undefined,
    lookBackMs: ordered ? (lookBack ?? dayMs) : undefined,
  })
}

const dayMs = 86_400_000

function readBucket(value: unknown, place: Place): string | undefined {
  return value === undefined ? fault(place, 'a bucket is needed', 'its name') : readText(value, place)
}

function readText(value: unknown, place: Place): string | undefined {
  if (value === undefined || (typeof value === 'string' && value.length <= 2048)) return value
  return fault(place, `${shown(value)} is not a text`, 'a text')
}

function readEndpoint(value: unknown, place: Place): string | undefined {
  const text = readText(value, place)
  if (text === undefined || /^https?:\/\/[^/]/.test(text)) return text
  return fault(place, `${shown(value)} is not an address`, 'such as https://minio.example.net:9000')
}
