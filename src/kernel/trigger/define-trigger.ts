import { readAlerts, type AlertsOption } from '../alert/alerts-option.js'
import type { DstPolicy } from '../../time/cron/dst.js'
import type { AssetSpec } from '../partition/asset-spec.js'
import type { Calendars } from '../calendar/define-calendar.js'
import type { BlackoutInput, CalendarOptions } from '../calendar/define-rules.js'
import { noteContradictions } from './contradictions.js'
import { readCatchUp, readOverlap } from './define-policy.js'
import { readSchedule, scheduleOptionNames } from './define-schedule.js'
import type { DefinitionDefaults } from '../definition/definitions.js'
import { refuse } from '../definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../definition/faults.js'
import { frozen } from '../definition/frozen.js'
import type { Json } from '../definition/json.js'
import { isTime } from '../partition/spec.js'
import { readPartitionRule, type PartitionRule } from '../partition/rule.js'
import type { JobRef } from '../job/job-ref.js'
import { copyJson, payloadFault } from '../job/payload.js'
import {
  isMap,
  readDuration,
  readFlag,
  readName,
  readOptions,
  readPriority,
  readWhole,
  type Written,
} from '../definition/read-value.js'
import type { Labels } from '../run/run.js'
import type { SecretText } from '../definition/secret-text.js'
import { readPing } from '../ping/ping.js'
import { readSla } from '../sla/define-sla.js'
import type { SlaInput } from '../sla/sla.js'
import type { CatchUpPolicy, OverlapPolicy, Trigger } from './trigger.js'

/** When a job is due, and its policies for late and overlapping instants. Exactly one of `cron`, `every` and `at` is required. */
export interface ScheduleOptions {
  /** A cron expression of five fields, six with seconds first, seven with the year last; or a name such as `@daily`. */
  readonly cron?: string | undefined
  /** The IANA zone of the expression, of an `at` without offset, or of the days of its calendars; default: `UTC`, never the host's zone. */
  readonly timezone?: string | undefined
  /** What happens to fixed local times that clocks skip or show twice; default: `vixie`. */
  readonly dst?: DstPolicy | undefined
  /** The length of the interval, such as `15m` or milliseconds; at least 100 ms. */
  readonly every?: string | number | undefined
  /** Measures the interval from the end of the previous run, instead of using a fixed grid. */
  readonly after?: 'finish' | undefined
  /** An instant on the grid of `every`; default: the instant of the first definition. */
  readonly anchor?: string | Date | undefined
  /** Whether an interval is also due at its beginning, not only after the first `every`. */
  readonly immediate?: boolean | undefined
  /** The one instant of a one-shot: a Date, or a text such as `2026-01-05T09:00` (in `timezone`) or `2026-01-05T09:00:00Z`. */
  readonly at?: string | Date | undefined
  /** No instant before it is due. */
  readonly start?: string | Date | undefined
  /** No instant after it is due. */
  readonly end?: string | Date | undefined
  /** The total number of due instants, from `start` or the first definition; those that do not run count, too. @minimum 1 @maximum 100000 */
  readonly count?: number | undefined
  /** Calendars in which it is due, or not due. */
  readonly calendar?: CalendarOptions | undefined
  /** Periods in which it is never due. */
  readonly blackouts?: readonly BlackoutInput[] | undefined
  /** Passed to every run; at most 256 KiB of JSON. */
  readonly payload?: Json | undefined
  /** Labels every run with the partition of its due instant: a slice of time in the trigger's zone, or for an asset `slice` (default), `previous`, a `label` or a `key`. */
  readonly partition?: PartitionRule | undefined
  /** What happens to instants found late, for example after downtime; default: `latest`, or `all` with a partition. */
  readonly catchUp?: CatchUpPolicy['mode'] | CatchUpOptions | undefined
  /** What happens to an instant while an earlier run is unfinished; default: `skip`, or `queue-all` with catch-up `all`. */
  readonly overlap?: OverlapPolicy | undefined
  /** Delays each run by its own constant part of this, up to 24 h. */
  readonly jitter?: string | number | undefined
  /** Delays all runs of the trigger by one constant part of this, up to 24 h. */
  readonly spread?: string | number | undefined
  /** Overrides the job's. @minimum -1000000 @maximum 1000000 */
  readonly priority?: number | undefined
  /** Pauses the trigger after this many failed runs in a row, until somebody resumes it; default: never. @minimum 1 @maximum 1000 */
  readonly pauseAfter?: number | undefined
  /** If false, it is defined but never due. */
  readonly enabled?: boolean | undefined
  /** Additional names of its runs, such as those of another program; at most 16. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** How soon after their due instants its runs begin and end, and how old its last success may be; a breach is recorded and can be reported. */
  readonly sla?: SlaInput | undefined
  /** An address that gets a request at the start and the end of each run, in the format of healthchecks.io; `{ env: NAME }` keeps it secret. */
  readonly ping?: SecretText | undefined
  /** The channels to which its problems are reported, instead of its job's and the rules of the app; false: none. @minItems 1 @maxItems 50 */
  readonly alerts?: AlertsOption | undefined
}

/** Exactly one way to say when something is due. */
export type OneWay =
  | { readonly cron: string; readonly every?: undefined; readonly at?: undefined }
  | {
      readonly every: string | number
      readonly cron?: undefined
      readonly at?: undefined
      readonly dst?: undefined
    }
  | { readonly at: string | Date; readonly cron?: undefined; readonly every?: undefined }

/** When a job is due, with a payload that the job takes. */
export type JobSchedule<Payload> = Omit<ScheduleOptions, 'payload'> &
  OneWay & { readonly job: string | JobRef<Payload> } & (undefined extends Payload
    ? { readonly payload?: NoInfer<Payload> }
    : { readonly payload: NoInfer<Payload> })

/** Which late instants still run. */
export interface CatchUpOptions {
  /** `skip` runs none of them, `latest` the newest, `all` the newest `maxRuns`. */
  readonly mode?: CatchUpPolicy['mode'] | undefined
  /** Older due times never run; default: no limit. */
  readonly maxAge?: string | number | undefined
  /** How many run under `all`; default: 100. @minimum 1 @maximum 10000 */
  readonly maxRuns?: number | undefined
  /** How late an instant may be and still count as on time, at most one hour; default: one minute. */
  readonly grace?: string | number | undefined
}

/** A trigger as a config file, the command line or the API writes it. */
export interface TriggerInput extends ScheduleOptions {
  /** The name of the job that it triggers. */
  readonly job: string
}

/** The frozen trigger of a definition; throws one error with all its faults. */
export function defineTrigger(
  name: string,
  input: TriggerInput,
  { asset, calendars }: { readonly asset?: AssetSpec | undefined; readonly calendars?: Calendars } = {},
): Trigger {
  const place = placeOf()
  const trigger = readTrigger({ name, input, asset, defaults: { calendars } }, place)
  if (place.faults.length > 0) refuse(`trigger ${shown(name)}`, place.faults)
  return trigger as Trigger
}

/** Reads a frozen trigger; records faults at the place and returns undefined if there are any. */
export function readTrigger(
  written: {
    readonly name: unknown
    readonly input: unknown
    /** The asset part of its job, if it is an asset that is already known. */
    readonly asset?: AssetSpec | undefined
    readonly defaults?: DefinitionDefaults | undefined
  },
  place: Place,
): Trigger | undefined {
  const before = place.faults.length
  const name = readName(written.name, place)
  const input = readOptions(written.input, triggerOptionNames, place)
  if (input === undefined) return undefined
  const job = input['job'] === undefined ? missingJob(place) : readName(input['job'], within(place, 'job'))
  const schedule = readSchedule(input, place, written.defaults)
  const rest = {
    ...readPolicies(input, written.asset, place),
    ...readPromises(input, written.defaults, place),
  }
  noteContradictions(input, { ...rest, schedule }, place)
  if (place.faults.length > before || name === undefined || job === undefined || schedule === undefined) {
    return undefined
  }
  return frozen({ name, job, schedule, ...rest })
}

/** The options that every trigger has. */
export const triggerOptionNames: readonly string[] = [
  'job',
  ...scheduleOptionNames,
  'payload',
  'partition',
  'catchUp',
  'overlap',
  'jitter',
  'spread',
  'priority',
  'pauseAfter',
  'enabled',
  'labels',
  'alerts',
  'sla',
  'ping',
]

const delayBounds = { min: 0, max: 86_400_000, allowed: 'from 0s to 24h' }

function missingJob(place: Place): undefined {
  return fault(within(place, 'job'), 'the name of a job is missing')
}

function readPolicies(
  input: Written,
  asset: AssetSpec | undefined,
  place: Place,
): Omit<Trigger, 'name' | 'job' | 'schedule'> {
  const partition = readPartitionRule(input['partition'], within(place, 'partition'))
  const isAlwaysTheSame = typeof partition === 'object' && 'label' in partition
  const isCut = asset !== undefined && isTime(asset.partitions)
  const isPartitioned = partition === undefined ? isCut : !isAlwaysTheSame
  const catchUp = readCatchUp(input['catchUp'], { isPartitioned }, within(place, 'catchUp'))
  return {
    payload: readPayload(input['payload'], within(place, 'payload')),
    partition,
    catchUp,
    overlap: readOverlap(input['overlap'], catchUp, within(place, 'overlap')),
    jitterMs: readDuration(input['jitter'], delayBounds, within(place, 'jitter')) ?? 0,
    spreadMs: readDuration(input['spread'], delayBounds, within(place, 'spread')) ?? 0,
    priority: readPriority(input['priority'], within(place, 'priority')),
    ...readPauseAfter(input['pauseAfter'], within(place, 'pauseAfter')),
    enabled: readFlag(input['enabled'], within(place, 'enabled')) ?? true,
    ...(input['labels'] === undefined
      ? {}
      : { labels: readLabels(input['labels'], within(place, 'labels')) }),
    ...(input['ping'] === undefined ? {} : { ping: readPing(input['ping'], within(place, 'ping')) }),
    ...(input['alerts'] === undefined
      ? {}
      : { alerts: readAlerts(input['alerts'], within(place, 'alerts')) }),
  }
}

/** Times of day are in the zone of the cron expression, which may change; without one, in the current default zone. */
function readPromises(
  input: Written,
  defaults: DefinitionDefaults | undefined,
  place: Place,
): Pick<Trigger, 'sla'> {
  if (input['sla'] === undefined) return {}
  const named = input['timezone'] ?? defaults?.timezone
  const zone = typeof named === 'string' ? named : 'UTC'
  return {
    sla: readSla(input['sla'], within(place, 'sla'), {
      timezone: input['cron'] === undefined ? zone : undefined,
    }),
  }
}

function readPauseAfter(value: unknown, place: Place): { readonly pauseAfter?: number } {
  const pauseAfter = readWhole(value, { min: 1, max: 1000 }, place)
  return pauseAfter === undefined ? {} : { pauseAfter }
}

function readPayload(value: unknown, place: Place): Json | undefined {
  const problem = payloadFault(value)
  return problem === undefined ? copyJson(value) : fault(place, problem.message, problem.allowed)
}

const mostLabels = 16
const longestLabel = 256
const labelsAllowed = `at most ${mostLabels} names of 1 to 64 of A-Z a-z 0-9 . _ -, each with a text of at most ${longestLabel} characters`

/** Reads the labels of runs. */
export function readLabels(value: unknown, place: Place): Labels {
  const isFitting =
    isMap(value) &&
    Object.keys(value).length <= mostLabels &&
    Object.entries(value).every(
      ([name, text]) =>
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) &&
        typeof text === 'string' &&
        text.length <= longestLabel,
    )
  if (isFitting) return { ...value } as Labels
  fault(place, `${shown(value)} is not a map of labels`, labelsAllowed)
  return {}
}
