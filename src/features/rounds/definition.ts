import { formatDuration, MAX_DURATION_MS } from '../../time/duration.js'
import type { Calendars } from '../../kernel/calendar/define-calendar.js'
import {
  checkMoved,
  readRules,
  rulesOptionNames,
  type BlackoutInput,
  type CalendarOptions,
} from '../../kernel/calendar/define-rules.js'
import { readZone } from '../../kernel/trigger/define-schedule.js'
import type {
  DefinitionDefaults,
  KnownDefinitions,
  TriggerOrigin,
} from '../../kernel/definition/definitions.js'
import { refuse } from '../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../kernel/definition/faults.js'
import { frozen } from '../../kernel/definition/frozen.js'
import {
  isMap,
  isName,
  nearest,
  readDuration,
  readFlag,
  readName,
  readOptions,
  readPriority,
} from '../../kernel/definition/read-value.js'
import { readSla } from '../../kernel/sla/define-sla.js'
import type { SlaInput } from '../../kernel/sla/sla.js'
import { noteAge } from '../../kernel/trigger/contradictions.js'
import type { RoundService } from '../../kernel/trigger/round-spec.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'

/** A round as code, a config file, the command line or the API writes it. */
export interface RoundInput {
  /** How often it checks which services are due, such as `1h` or milliseconds; at least 100 ms. */
  readonly every: string | number
  /** Its services, in the order in which they are performed: jobs, each with its own interval if it is not the round's. @minItems 1 @maxItems 100 */
  readonly services: readonly (string | ServiceInput)[]
  /** Overrides the priority of the jobs. @minimum -1000000 @maximum 1000000 */
  readonly priority?: number | undefined
  /** If false, it is defined but does not check. */
  readonly enabled?: boolean | undefined
  /** Calendars in which it checks, or does not check. */
  readonly calendar?: CalendarOptions | undefined
  /** Periods in which it never checks. */
  readonly blackouts?: readonly BlackoutInput[] | undefined
  /** The IANA zone of the days of its calendars; default: `UTC`. */
  readonly timezone?: string | undefined
  /** How soon after its due instant a check begins its first service and ends its last, and how old the last check may be in which all of them succeeded. */
  readonly sla?: SlaInput | undefined
}

/** A service of a round. */
export interface ServiceInput {
  /** The name of its job. */
  readonly job: string
  /** How often the service runs; default: the interval of the round. */
  readonly every?: string | number | undefined
}

/** The frozen trigger of a round; throws one error with all its faults. */
export function defineRound(name: string, input: RoundInput, calendars?: Calendars): Trigger {
  const place = placeOf()
  const trigger = readRound({ name, input, defaults: { calendars } }, place)
  refuse(`round ${shown(name)}`, place.faults)
  return trigger as Trigger
}

/** The frozen trigger of a round, or undefined if there are faults, which are added to the place. */
export function readRound(
  written: {
    readonly name: unknown
    readonly input: unknown
    readonly defaults?: DefinitionDefaults | undefined
  },
  place: Place,
): Trigger | undefined {
  const before = place.faults.length
  const name = readName(written.name, place)
  const input = readOptions(written.input, roundOptionNames, place)
  if (input === undefined) return undefined
  const everyMs = readEvery(input['every'], within(place, 'every'))
  const services = readServices(input['services'], everyMs, within(place, 'services'))
  const priority = readPriority(input['priority'], within(place, 'priority'))
  const enabled = readFlag(input['enabled'], within(place, 'enabled')) ?? true
  const { timezone: zone = 'UTC', calendars } = written.defaults ?? {}
  const known = readZone(input['timezone'] ?? zone, within(place, 'timezone'))
  const timezone = known ?? 'UTC'
  const calendar = readRules(input, { timezone, calendars }, place)
  if (calendar?.onExcluded !== undefined) checkMoved({ kind: 'a round' }, place)
  const hasDays = input['calendar'] !== undefined || input['blackouts'] !== undefined
  if (input['timezone'] !== undefined && known !== undefined && !hasDays)
    fault(
      within(place, 'timezone'),
      'it contradicts `every`: an interval is the same in every zone',
      'only with calendar or blackouts',
    )
  const sla = readSla(input['sla'], within(place, 'sla'), { timezone })
  if (everyMs !== undefined) noteAge(sla, { kind: 'interval', everyMs }, within(place, 'sla'))
  const [first] = services
  if (place.faults.length > before || name === undefined || everyMs === undefined || first === undefined) {
    return undefined
  }
  return frozen({
    name,
    job: first.job,
    schedule: { kind: 'interval', everyMs, immediate: true, ...(calendar === undefined ? {} : { calendar }) },
    payload: undefined,
    partition: undefined,
    // A check is late when the next one is due, however short the interval is.
    catchUp: { mode: 'latest', maxAgeMs: undefined, maxRuns: 1, graceMs: Math.min(60_000, everyMs) },
    overlap: 'skip',
    jitterMs: 0,
    spreadMs: 0,
    priority,
    enabled,
    round: { services },
    ...(sla === undefined ? {} : { sla }),
  })
}

const roundOptionNames = ['every', 'services', 'priority', 'enabled', 'timezone', 'sla', ...rulesOptionNames]

/** Where a config names the services of a round. */
export const roundOrigin: TriggerOrigin = { section: 'rounds', jobAt: (index) => ['services', index] }

/** Reports rounds that have an asset as a service. */
export function checkServices({ own, others, triggers }: KnownDefinitions): void {
  for (const { trigger, place } of triggers) {
    const services = trigger.round?.services ?? []
    const asset = services.find(({ job }) => (own.get(job) ?? others.get(job))?.asset !== undefined)
    if (asset === undefined) continue
    const message = `${asset.job} is an asset; a service cannot be one`
    fault(within(place, 'services'), message, 'jobs that are not assets')
  }
}

/** Reports all services of a list that are not jobs; does not check anything else. */
export function noteUnknownServices(services: unknown, jobs: ReadonlySet<string>, place: Place): void {
  if (!Array.isArray(services)) return
  const names = services.map((one: unknown) => (isMap(one) ? one['job'] : one))
  // Invalid names are already reported as such.
  const unknown = names.filter((name): name is string => isName(name) && !jobs.has(name))
  if (unknown.length === 0) return
  const meant = unknown.flatMap((name) => nearest(name, [...jobs]) ?? [])
  const hint = meant.length === 0 ? '' : `; did you mean ${[...new Set(meant)].join(', ')}?`
  fault(place, `no jobs of that name: ${[...new Set(unknown)].join(', ')}${hint}`, 'the names of jobs')
}

/** The limits of an interval. */
const bounds = { min: 100, max: MAX_DURATION_MS, allowed: 'from 100ms to 36525d' }
const mostServices = 100

function readEvery(value: unknown, place: Place): number | undefined {
  if (value === undefined) return fault(place, 'the interval is missing', 'a duration such as 1h')
  return readDuration(value, bounds, place)
}

function servicesProblem(value: unknown): string {
  if (value === undefined) return 'it is missing'
  if (!Array.isArray(value)) return `a list of services was expected, not ${shown(value)}`
  return value.length === 0 ? 'the list is empty' : `${value.length} services are too many`
}

function readServices(value: unknown, everyMs: number | undefined, place: Place): RoundService[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > mostServices) {
    fault(place, servicesProblem(value), `a list of 1 to ${mostServices} jobs`)
    return []
  }
  const services = value.flatMap(
    (one: unknown, index) => readService(one, everyMs ?? bounds.min, within(place, index)) ?? [],
  )
  refuseTwice(services, place)
  return services
}

function readService(value: unknown, everyMs: number, place: Place): RoundService | undefined {
  if (!isMap(value)) {
    const job = readName(value, place)
    return job === undefined ? undefined : { job, everyMs }
  }
  const input = readOptions(value, ['job', 'every'], place) ?? {}
  const job = readName(input['job'], within(place, 'job'))
  const own = readDuration(input['every'], bounds, within(place, 'every'))
  return job === undefined ? undefined : { job, everyMs: own ?? everyMs }
}

function refuseTwice(services: readonly RoundService[], place: Place): void {
  const names = services.map(({ job }) => job)
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
  if (twice.length > 0) fault(place, `more than once: ${twice.join(', ')}`, 'every service once')
}

/** A sentence about the services that are due more often than their round checks. */
export function tooSeldom({ schedule, round }: Trigger): string | undefined {
  const checkMs = schedule.kind === 'interval' ? schedule.everyMs : 0
  const often = (round?.services ?? []).filter(({ everyMs }) => everyMs < checkMs)
  if (often.length === 0) return undefined
  const named = often.map(({ job, everyMs }) => `${job} every ${formatDuration(everyMs)}`)
  const each = often.length === 1 ? 'it runs' : 'they run'
  return `${named.join(', ')} in a round that checks every ${formatDuration(checkMs)}: ${each} at its checks only`
}
