import { fault, shown, within, type Place } from '../../kernel/definition/faults.js'
import {
  readChoice,
  readConcurrency,
  readDuration,
  readEach,
  readFlag,
  readOptions,
  readWhole,
  type Written,
} from '../../kernel/definition/read-value.js'
import { readQueue } from '../../kernel/job/define-queue.js'
import type { Queue } from '../../kernel/job/job.js'
import { retentionBounds } from '../../kernel/job/retention.js'

/** The settings of an app, from its options or its config. */
export interface AppSettings {
  readonly concurrency: number
  readonly leaseMs: number
  readonly retentionMs: number
  readonly durability: 'full' | 'normal'
  readonly offerAfterMs: number
  readonly queues: readonly Queue[]
  /** Where the HTTP API is served; false: nowhere; undefined: the default. */
  readonly serve: ServeSettings | false | undefined
}

/** Where and how the HTTP API is served. */
export interface ServeSettings {
  /** The address to listen on; default: `127.0.0.1`. Any other needs a token. */
  readonly host?: string | undefined
  /** The port to listen on; default: 7070, or one of the next nine if it is taken. @minimum 0 @maximum 65535 */
  readonly port?: number | undefined
  /** Whether changes are refused; default: false. */
  readonly readOnly?: boolean | undefined
}

/** The options that `readSettings` reads. */
export const settingNames = [
  'concurrency',
  'lease',
  'retention',
  'durability',
  'bus',
  'queues',
  'serve',
] as const

const leaseBounds = { min: 1000, max: 3_600_000, allowed: 'from 1s to 1h' }
const offerBounds = { min: 100, max: 86_400_000, allowed: 'from 100ms to 1d' }

/** The default time that a run waits for a claim before it is offered on the bus. */
export const offerAfterDefaultMs = 5000

/** Reads the settings of an app and fills in the defaults. */
export function readSettings(input: Written, place: Place): AppSettings {
  const durabilities = ['full', 'normal'] as const
  return {
    concurrency: readConcurrency(input['concurrency'], within(place, 'concurrency')) ?? 10,
    leaseMs: readDuration(input['lease'], leaseBounds, within(place, 'lease')) ?? 30_000,
    retentionMs:
      readDuration(input['retention'], retentionBounds, within(place, 'retention')) ?? 30 * 86_400_000,
    durability: readChoice(input['durability'], durabilities, within(place, 'durability')) ?? 'full',
    offerAfterMs: readBus(input['bus'], within(place, 'bus')) ?? offerAfterDefaultMs,
    queues: readEach(input['queues'], readQueue, within(place, 'queues')),
    serve: readServe(input['serve'], within(place, 'serve')),
  }
}

function readServe(value: unknown, place: Place): AppSettings['serve'] {
  if (value === undefined || value === false) return value
  const input = readOptions(value, ['host', 'port', 'readOnly'], place)
  const host = input?.['host']
  if (host !== undefined && (typeof host !== 'string' || host === '')) {
    fault(within(place, 'host'), `${shown(host)} is not an address`, 'a text such as 127.0.0.1')
  }
  return {
    host: host as string | undefined,
    port: readWhole(input?.['port'], { min: 0, max: 65_535 }, within(place, 'port')),
    readOnly: readFlag(input?.['readOnly'], within(place, 'readOnly')),
  }
}

function readBus(value: unknown, place: Place): number | undefined {
  if (value === undefined) return undefined
  const input = readOptions(value, ['offerAfter'], place)
  return readDuration(input?.['offerAfter'], offerBounds, within(place, 'offerAfter'))
}
