import type { QueueOptions } from '../kernel/job/define-queue.js'
import { refuse } from '../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../kernel/definition/faults.js'
import { readFlag, readName, readOptions } from '../kernel/definition/read-value.js'
import type { Roles } from '../engine/role.js'
import {
  readSettings,
  settingNames,
  type AppSettings,
  type ServeSettings,
} from '../formats/config/settings.js'
import { defaultStore } from '../formats/store-url.js'
import { systemClock, type Clock } from '../time/clock.js'
import { isVirtual } from './process/loop-times.js'
import type { Durability, ReaderAccess } from './store/open-adapter.js'

export type { StepContext, StepFunction } from '../handlers/pipeline/step-function.js'

/** How an app is set up; everything has a default. */
export interface RotaOptions {
  /** The URL of the store; default: `sqlite:data/rota.db`. `files:<directory>` can be read with `cat`, `memory:` is lost when the process exits. */
  readonly store?: string | undefined
  /** The name under which this app owns its definitions; default: the name in the nearest `package.json` upwards from the program, else `app`. */
  readonly app?: string | undefined
  /** How many runs this process performs concurrently; default: 10. */
  readonly concurrency?: number | undefined
  /** How long a worker may be silent before its runs are taken over, from `1s` to `1h`; default: `30s`, in virtual time `1h`. */
  readonly lease?: string | number | undefined
  /** How long final runs are kept, at least `1m`; default: `30d`. */
  readonly retention?: string | number | undefined
  /** `full` survives a power loss, `normal` any crash of a process; default: `full`. */
  readonly durability?: Durability | undefined
  /** Whether a missing store is created; with false a missing store is an error. Default: true. */
  readonly create?: boolean | undefined
  /** Queues with limits over all workers. */
  readonly queues?: Readonly<Record<string, QueueOptions>> | undefined
  /** How the message bus behaves. */
  readonly bus?: BusOptions | undefined
  /** Where `rota up` and `app.listen()` serve the HTTP API; false: `rota up` serves nothing. */
  readonly serve?: ServeSettings | false | undefined
  /** The directory that relative paths start at; default: the working directory. */
  readonly directory?: string | undefined
  /** The source of time; default: the clock of the machine. For tests. */
  readonly clock?: Clock | undefined
}

/** How the message bus behaves. */
export interface BusOptions {
  /** How long a run may wait for a worker before it is offered on the bus, from `100ms` to `1d`; default: `5s`. */
  readonly offerAfter?: string | number | undefined
}

/** How an app is started. */
export interface StartOptions {
  /** Which loops run here; default: both. */
  readonly roles?: Partial<Roles> | undefined
  /** Accept the wall clock even if it is more than a year ahead of the store. */
  readonly acceptClock?: boolean | undefined
  /** Accept a store that shows an older state than this host has seen. */
  readonly acceptStore?: boolean | undefined
}

/** The options of an app with every default filled in. */
export interface Settings extends AppSettings {
  readonly store: string
  readonly create: boolean
  readonly directory: string | undefined
  readonly clock: Clock
  /** For a process that only reads the store. */
  readonly reader?: ReaderAccess | undefined
}

const optionNames: readonly (keyof RotaOptions)[] = [
  'store',
  'app',
  ...settingNames,
  'create',
  'directory',
  'clock',
]

/** Checks the options of an app; throws one error with all their faults. */
export function readRotaOptions(options: RotaOptions): Settings {
  const place = placeOf()
  const input = readOptions(options, optionNames, place) ?? {}
  if (input['app'] !== undefined) readName(input['app'], within(place, 'app'))
  const store = readText(input['store'], within(place, 'store')) ?? defaultStore
  const clock = readClock(input['clock'], within(place, 'clock'))
  const lease = input['lease'] ?? (isVirtual({ store, clock }) ? '1h' : undefined)
  const settings = {
    store,
    ...readSettings({ ...input, lease }, place),
    create: readFlag(input['create'], within(place, 'create')) ?? true,
    directory: readText(input['directory'], within(place, 'directory')),
    clock,
  }
  refuse('the app', place.faults)
  return settings
}

function readText(value: unknown, place: Place): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  return fault(place, `${shown(value)} is not allowed`, 'a text that is not empty')
}

function readClock(value: unknown, place: Place): Clock {
  if (value === undefined) return systemClock
  if (isClock(value)) return value
  fault(place, `${shown(value)} is not a clock`)
  return systemClock
}

function isClock(value: unknown): value is Clock {
  return typeof value === 'object' && value !== null && 'monotonicMs' in value
}
