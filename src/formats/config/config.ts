import type { Blackout, CalendarSpec } from '../../kernel/calendar/calendar.js'
import { readCalendar, type CalendarInput, type Calendars } from '../../kernel/calendar/define-calendar.js'
import { readBlackouts, type BlackoutInput } from '../../kernel/calendar/define-rules.js'
import type {
  DefinitionDefaults,
  Definitions,
  JobDefinition,
  TriggerDefinition,
} from '../../kernel/definition/definitions.js'
import { fault, shown, within, type Place } from '../../kernel/definition/faults.js'
import {
  didYouMean,
  isMap,
  isName,
  readEach,
  readName,
  readOptions,
  type Entry,
  type Written,
} from '../../kernel/definition/read-value.js'
import type { SecretText } from '../../kernel/definition/secret-text.js'
import { readVariables } from '../../kernel/job/define-handler.js'
import { functionOf, readJob, type JobInput } from '../../kernel/job/define-job.js'
import type { QueueOptions } from '../../kernel/job/define-queue.js'
import { readZone, scheduleKinds } from '../../kernel/trigger/define-schedule.js'
import {
  readTrigger,
  triggerOptionNames,
  type ScheduleOptions,
  type TriggerInput,
} from '../../kernel/trigger/define-trigger.js'
import { readIcsFile } from '../ics-file.js'
import { readSettings, settingNames, type AppSettings, type ServeSettings } from './settings.js'

/** The content of a config file, without the sections of features. */
export interface ConfigInput {
  /** The address of the schema that editors use to complete the file; it has no other effect. */
  readonly $schema?: string | undefined
  /** The name of the app, which owns its definitions; default: the package's name, else the directory's. */
  readonly app?: string | undefined
  /** The store, such as `sqlite:data/rota.db`; a path is relative to the config file. */
  readonly store?: string | undefined
  /** How many runs this worker performs concurrently. @minimum 1 */
  readonly concurrency?: number | undefined
  /** How long a worker may be silent before its runs are taken over, from `1s` to `1h`. */
  readonly lease?: string | number | undefined
  /** How long finished runs are kept, at least `1m`. */
  readonly retention?: string | number | undefined
  /** `full` survives power loss, `normal` every crash of a process. */
  readonly durability?: 'full' | 'normal' | undefined
  /** How the message bus behaves. */
  readonly bus?: { readonly offerAfter?: string | number | undefined } | undefined
  /** Where `rota up` serves the HTTP API; false: not at all. */
  readonly serve?: ServeSettings | false | undefined
  /** The default IANA zone of schedules and sensors, and of times without an offset; default: `UTC`. */
  readonly timezone?: string | undefined
  /** Days and times by name, which triggers, rounds and sensors include or exclude. */
  readonly calendars?: Readonly<Record<string, CalendarInput>> | undefined
  /** Periods in which no trigger of this config is due. */
  readonly blackouts?: readonly BlackoutInput[] | undefined
  /** Variables that every command gets; a secret as `{ env: NAME }` or `{ file: path }`. */
  readonly env?: Readonly<Record<string, SecretText>> | undefined
  /** Functions that steps of pipelines use, by name; only code can write them. */
  readonly steps?: Readonly<Record<string, (step: never) => unknown>> | undefined
  /** Queues with limits over all workers, by name. */
  readonly queues?: Readonly<Record<string, QueueOptions>> | undefined
  /** The jobs, by name. */
  readonly jobs?: Readonly<Record<string, JobEntry>> | undefined
  /** The triggers, by name. */
  readonly triggers?: Readonly<Record<string, TriggerInput>> | undefined
}

/** A job of a config; with `cron`, `every` or `at` it has a trigger of its own name. */
export interface JobEntry extends JobInput, Omit<ScheduleOptions, 'sla'> {}

/** A config without faults, read and frozen. */
export interface Config<Section extends SectionDefinitions = SectionDefinitions> {
  readonly app: string
  readonly store: string | undefined
  readonly settings: AppSettings
  readonly steps: ReadonlyMap<string, (step: never) => unknown>
  readonly calendars: Calendars
  /** The blackouts of all its triggers, and the zone of those without one. */
  readonly blackouts: { readonly timezone: string; readonly list: readonly Blackout[] }
  /** Its jobs and triggers. */
  readonly definitions: Definitions
  /** The definitions of the sections of features. */
  readonly sections: readonly Section[]
}

/** Keys of a config that a feature reads, and its reader, which is loaded if a file has one of the keys. */
export interface ConfigSection<Section extends SectionDefinitions = SectionDefinitions> {
  readonly keys: readonly string[]
  readonly load: () => Promise<{ readonly readSection: SectionReader<Section> }>
}

/** Reads the keys of a section, and records each fault at its place. */
export type SectionReader<Section extends SectionDefinitions> = (
  input: Written,
  place: Place,
  defaults?: DefinitionDefaults,
) => Section

/** The definitions of a section of a config. */
export interface SectionDefinitions extends Definitions {
  /** The names of its jobs, also of those with faults. */
  readonly jobNames?: readonly string[]
  /** Records faults for jobs that the section names and the file does not have. */
  readonly noteUnknown?: (jobs: readonly string[]) => void
}

/** The options for reading a config. */
export interface ConfigReading<Section extends SectionDefinitions> {
  /** The name of the app if the config has none. */
  readonly app: string
  /** The base of paths of other files. */
  readonly directory: string
  /** All keys that are read by sections. */
  readonly sectionKeys: readonly string[]
  /** The readers of the sections that the config has. */
  readonly readers: readonly SectionReader<Section>[]
}

const ownKeys: readonly (keyof ConfigInput)[] = [
  '$schema',
  'app',
  'store',
  ...settingNames,
  'timezone',
  'calendars',
  'blackouts',
  'env',
  'steps',
  'jobs',
  'triggers',
]

/** Reads a config, and records each fault at its place. */
export function readConfig<Section extends SectionDefinitions>(
  value: unknown,
  { app: defaultApp, directory, sectionKeys, readers }: ConfigReading<Section>,
  place: Place,
): Config<Section> | undefined {
  const before = place.faults.length
  const input = readOptions(value, [...ownKeys, ...sectionKeys], place)
  if (input === undefined) return undefined
  const app = input['app'] === undefined ? defaultApp : readName(input['app'], within(place, 'app'))
  const store = readStore(input['store'], within(place, 'store'))
  const settings = readSettings(input, place)
  const steps = readSteps(input['steps'], within(place, 'steps'))
  const defaults = readDefaults(input, directory, place)
  const list = readBlackouts(input['blackouts'], defaults.calendars, within(place, 'blackouts'))
  const blackouts = { timezone: defaults.timezone ?? 'UTC', list }
  const jobs = readEach(
    input['jobs'],
    (one, at) => readJobEntry({ ...one, defaults }, at),
    within(place, 'jobs'),
  )
  const sections = readers.map((read) => read(input, place, defaults))
  const triggers = readTriggers(input, { known: [{ jobs }, ...sections], defaults }, place)
  const definitions = { jobs, triggers: [...jobs.flatMap(({ due }) => due ?? []), ...triggers] }
  noteTwice([definitions, ...sections], place)
  if (place.faults.length > before) noteUnknown(input, sections, place)
  if (place.faults.length > before || app === undefined) return undefined
  return { app, store, settings, steps, calendars: defaults.calendars, blackouts, definitions, sections }
}

/** A path or the address of a server; whether it can be opened is not checked here. */
function readStore(value: unknown, place: Place): string | undefined {
  if (value === undefined || (typeof value === 'string' && /^[a-z]+:/.test(value))) return value
  return fault(
    place,
    `${shown(value)} is not the address of a store`,
    'an address such as sqlite:data/rota.db',
  )
}

function readSteps(value: unknown, place: Place): Config['steps'] {
  const steps = readEach(
    value,
    ({ name, input }, at): [string, (step: never) => unknown] | undefined => {
      const known = readName(name, at)
      if (typeof input === 'function' && known !== undefined)
        return [known, input as (step: never) => unknown]
      if (typeof input === 'function') return undefined
      return fault(at, `${shown(input)} is not a function`, 'a function, in a config written in code')
    },
    place,
  )
  return new Map(steps)
}

function readDefaults(
  { timezone, env, calendars }: Written,
  directory: string,
  place: Place,
): DefinitionDefaults & { readonly calendars: Calendars } {
  return {
    calendars: readCalendars(calendars, directory, within(place, 'calendars')),
    timezone: timezone === undefined ? undefined : readZone(timezone, within(place, 'timezone')),
    env: env === undefined ? undefined : readVariables(env, within(place, 'env')),
  }
}

/** Calendars may refer to calendars that are defined before them. */
function readCalendars(value: unknown, directory: string, place: Place): Calendars {
  const known = new Map<string, CalendarSpec>()
  const sources = { known, readIcs: (path: string, at: Place) => readIcsFile(path, directory, at) }
  readEach(
    value,
    (entry, at) => {
      const read = readCalendar(entry, sources, at)
      // A faulty one counts as known, so that only its own faults are reported.
      known.set(String(entry.name), read?.[1] ?? {})
      return read
    },
    place,
  )
  return known
}

interface DefaultedEntry extends Entry {
  readonly defaults: DefinitionDefaults
}

/** The options of a job's own trigger; priority and alerts apply to both, the SLA only to the trigger. */
const dueOptionNames = triggerOptionNames.filter(
  (name) => !['job', 'priority', 'alerts', 'sla'].includes(name),
)

function readJobEntry(
  entry: DefaultedEntry,
  place: Place,
): (JobDefinition & { readonly due: TriggerDefinition | undefined }) | undefined {
  const due = readDue(entry, place)
  const input = isMap(entry.input) && saysWhen(entry.input) ? { ...entry.input, sla: undefined } : entry.input
  const job = readJob({ ...entry, input, others: dueOptionNames }, place)
  return job === undefined ? undefined : { job, handler: functionOf(entry.input), due }
}

/** The trigger of a job with its own schedule. */
function readDue({ name, input, defaults }: DefaultedEntry, place: Place): TriggerDefinition | undefined {
  if (!isMap(input)) return undefined
  const written = Object.entries(input).filter(
    ([key, value]) => value !== undefined && dueOptionNames.includes(key),
  )
  if (!saysWhen(input)) {
    for (const [key] of written) fault(within(place, key), 'it requires cron, every or at')
    return undefined
  }
  // An invalid name is reported with the job.
  const job = isName(name) ? name : 'job'
  const { sla } = input
  const given = { ...Object.fromEntries(written), ...(sla === undefined ? {} : { sla }), job }
  const trigger = readTrigger({ name: job, input: given, defaults }, place)
  return trigger === undefined ? undefined : { trigger, origin: { section: 'jobs' } }
}

/** Whether a job has its own schedule. */
function saysWhen(input: Written): boolean {
  return scheduleKinds.some((kind) => input[kind] !== undefined)
}

/** Triggers are read after all jobs: a trigger of an asset has other defaults. */
function readTriggers(
  { triggers }: Written,
  { known, defaults }: { readonly known: readonly Definitions[]; readonly defaults: DefinitionDefaults },
  place: Place,
): readonly TriggerDefinition[] {
  const jobs = known.flatMap((one) => one.jobs ?? [])
  return readEach(
    triggers,
    (entry, at) => {
      const name: unknown = isMap(entry.input) ? entry.input['job'] : undefined
      const asset = jobs.find(({ job }) => job.name === name)?.job.asset
      const trigger = readTrigger({ ...entry, asset, defaults }, at)
      return trigger === undefined ? undefined : { trigger }
    },
    within(place, 'triggers'),
  )
}

/** Jobs share one name space, and so do triggers, across all sections. */
function noteTwice(all: readonly Definitions[], place: Place): void {
  const jobs = all.flatMap((one) => one.jobs ?? [])
  const triggers = all.flatMap((one) => one.triggers ?? [])
  const seen = new Map<string, string>()
  const note = (what: string, section: string, name: string): void => {
    const first = seen.get(`${what} ${name}`)
    seen.set(`${what} ${name}`, first ?? section)
    if (first === undefined) return
    const message = `${first} already defines a ${what} of this name`
    fault([section, name].reduce(within, place), message, 'another name')
  }
  for (const { job, section = 'jobs' } of jobs) note('job', section, job.name)
  for (const { trigger, origin } of triggers) note('trigger', origin?.section ?? 'triggers', trigger.name)
}

/** Another job may be in the store, which is not read here; so this is reported only together with other faults. */
function noteUnknown(input: Written, sections: readonly SectionDefinitions[], place: Place): void {
  const jobs = [...namesIn(input['jobs']), ...sections.flatMap((section) => section.jobNames ?? [])]
  const { triggers } = input
  for (const [name, trigger] of Object.entries(isMap(triggers) ? triggers : {})) {
    const job: unknown = isMap(trigger) ? trigger['job'] : undefined
    if (typeof job !== 'string' || jobs.includes(job)) continue
    const message = `no job of this file is named ${job}${didYouMean(job, jobs)}`
    const allowed = [...jobs, 'or one that is already in the store'].join(', ')
    fault([name, 'job'].reduce(within, within(place, 'triggers')), message, allowed)
  }
  for (const section of sections) section.noteUnknown?.(jobs)
}

/** The names in a map from names to definitions. */
export function namesIn(value: unknown): readonly string[] {
  return isMap(value) ? Object.keys(value) : []
}
