import { storedBlackouts, storedCalendars, withBlackouts } from '../../engine/sync/calendars.js'
import type { Calendars } from '../../kernel/calendar/define-calendar.js'
import { pastSchedules } from '../../engine/sync/past-schedules.js'
import { define, defineJobs, end } from '../../engine/sync/sync.js'
import { findTrigger, unknownJob } from '../../engine/sync/find-definition.js'
import { functionOf, readJob, type JobInput } from '../../kernel/job/define-job.js'
import { readTrigger, type TriggerInput } from '../../kernel/trigger/define-trigger.js'
import { timedKinds } from '../../engine/timed/kinds.js'
import { kindOf } from '../../engine/trigger-kind.js'
import type { JobDefinition } from '../../kernel/definition/definitions.js'
import type { DryRun } from '../../kernel/definition/dry-run.js'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { refusedHost } from '../../outbound/address-rules.js'
import { fault, placeOf, within, type Place } from '../../kernel/definition/faults.js'
import { isMap, readEach, type Entry } from '../../kernel/definition/read-value.js'
import type { Job } from '../../kernel/job/job.js'
import { isJobsSource } from '../../kernel/job/command-source.js'
import { jobsOf, type StoredTrigger, type Trigger } from '../../kernel/trigger/trigger.js'
import type { Store, StoredJob } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { loadTriggerKinds } from '../features.js'

/** The source of definitions that are added at run time. */
export const runTimeSource = 'api'

const api = runTimeSource

/** The names that were added. */
export interface Added {
  readonly jobs: readonly string[]
  readonly triggers: readonly string[]
}

/** Defines jobs and triggers at run time. An existing trigger is a conflict, unless `replace` is set. */
export async function addDefinitions(
  store: Store,
  input: {
    readonly jobs?: Readonly<Record<string, JobInput>> | undefined
    readonly triggers?: Readonly<Record<string, TriggerInput>> | undefined
    readonly replace?: boolean | undefined
    readonly now: Instant
    /** Registers the function of a job, before its runs can be claimed. */
    readonly accept: (name: string, handler: NonNullable<JobDefinition['handler']>) => void
  } & DryRun,
): Promise<Added> {
  const { now, replace = false } = input
  const stored = new Map((await store.jobs()).map(({ job }) => [job.name, job]))
  const calendars = await storedCalendars(store)
  const { added, triggers: read } = readDefinitions(input, { jobs: stored, calendars })
  const blackouts = await storedBlackouts(store)
  const triggers = read.map((trigger) => withBlackouts(trigger, blackouts))
  const jobs = added.map(({ job }) => job)
  refuse('what was added', await pastSchedules(store, triggers, now))
  const known = new Set([...jobs.map(({ name }) => name), ...stored.keys()])
  for (const { name, job } of triggers) {
    if (known.has(job)) continue
    throw new RotaError('JOB_UNKNOWN', `trigger ${name}: ${unknownJob(job, [...known]).message}`)
  }
  const names = { jobs: jobs.map((job) => job.name), triggers: triggers.map((one) => one.name) }
  await assertFree(store, names, { replace })
  if (input.dryRun === true) return names
  for (const { job, handler } of added) if (handler !== undefined) input.accept(job.name, handler)
  await defineJobs(store, { name: api, jobs, queues: [] }, now)
  await define(store, { kinds: await loadTriggerKinds(), source: api, triggers, now })
  return names
}

/** The stored definitions to which new ones may refer. */
interface StoredDefinitions {
  readonly jobs: ReadonlyMap<unknown, Job>
  readonly calendars: Calendars
}

/** All faults of all definitions are reported together. */
function readDefinitions(
  input: {
    readonly jobs?: Readonly<Record<string, JobInput>> | undefined
    readonly triggers?: Readonly<Record<string, TriggerInput>> | undefined
  },
  stored: StoredDefinitions,
): { readonly added: readonly JobDefinition[]; readonly triggers: readonly Trigger[] } {
  const place = placeOf()
  const added = readEach(input.jobs, readAdded, within(place, 'jobs'))
  const readOne = (entry: Entry, at: Place): Trigger | undefined => readAddedTrigger(entry, stored, at)
  const triggers = readEach(input.triggers, readOne, within(place, 'triggers'))
  refuse('what was added', place.faults)
  return { added, triggers }
}

/** The job of a trigger may be an asset that is in the store. */
function readAddedTrigger(
  entry: Entry,
  { jobs, calendars }: StoredDefinitions,
  place: Place,
): Trigger | undefined {
  const job = isMap(entry.input) ? jobs.get(entry.input['job']) : undefined
  const trigger = readTrigger({ ...entry, asset: job?.asset, defaults: { calendars } }, place)
  if (trigger !== undefined) kindOf(timedKinds, trigger).checkJob?.(trigger, job, place)
  return trigger
}

/** Refuses a request that would certainly be refused when it runs. */
function readAdded(entry: Entry, place: Place): JobDefinition | undefined {
  const { http } = isMap(entry.input) ? entry.input : {}
  const url = isMap(http) ? String(http['url']) : ''
  const refused = URL.canParse(url) ? refusedHost(new URL(url).hostname, 'refuse') : undefined
  if (refused !== undefined) fault(within(within(place, 'http'), 'url'), refused)
  const job = readJob(entry, place)
  return job === undefined ? undefined : { job, handler: functionOf(entry.input) }
}

/** Ends a trigger that was added at run time; its pending runs are cancelled, its history stays. */
export async function removeTrigger(
  store: Store,
  request: { name: string; now: Instant } & DryRun,
): Promise<StoredTrigger> {
  const { name, now } = request
  const found = await findTrigger(store, name)
  const { source, active } = found
  if (!active) throw new RotaError('TRIGGER_UNKNOWN', `trigger ${name} has already ended`)
  if (source !== api) throw foreign('trigger', name, source)
  if (request.dryRun === true) return found
  const kinds = await loadTriggerKinds()
  await end(store, { kinds, source: api, names: [name], now, cancelPending: true })
  return found
}

/** Removes a job that was added at run time, or that its source no longer defines. */
export async function removeJob(store: Store, request: { name: string } & DryRun): Promise<StoredJob> {
  const { name } = request
  const jobs = await store.jobs()
  const job = jobs.find((one) => one.job.name === name)
  if (job === undefined) {
    throw unknownJob(
      name,
      jobs.map((one) => one.job.name),
    )
  }
  if (job.source !== api && job.job.ended !== true) throw foreign('job', name, job.source)
  const isUsed =
    request.dryRun === true ? await isInUse(store, name) : (await store.removeJobs([name])).length > 0
  if (isUsed) {
    throw new RotaError(
      'RUN_STATE',
      `job ${name} is still used by a trigger or an unfinished run; remove or end those first`,
    )
  }
  return job
}

/** Whether the store would keep a job because it is used. */
async function isInUse(store: Store, name: string): Promise<boolean> {
  const triggers = await store.triggers({ active: true })
  if (triggers.some(({ trigger }) => jobsOf(trigger).includes(name))) return true
  const [pending, running] = await Promise.all([
    store.runs({ job: name, state: 'pending', limit: 1 }),
    store.runs({ job: name, state: 'running', limit: 1 }),
  ])
  return pending.length + running.length > 0
}

/** Throws if a name is taken: by any source, or by another source if own definitions may be replaced. */
async function assertFree(
  store: Store,
  names: { jobs: readonly string[]; triggers: readonly string[] },
  { replace }: { replace: boolean },
): Promise<void> {
  const isKept = ({ source }: { readonly source: string }): boolean => !replace || source !== api
  const jobs = (await store.jobs())
    .filter(isKept)
    .filter(({ job }) => names.jobs.includes(job.name) && job.ended !== true)
  const triggers = (await store.triggers({ names: names.triggers, active: true })).filter(isKept)
  const taken = [
    ...jobs.map(({ job, source }) => `job ${job.name} (${source})`),
    ...triggers.map(({ trigger, source }) => `trigger ${trigger.name} (${source})`),
  ]
  if (taken.length === 0) return
  throw new RotaError('DEFINITION_CONFLICT', `already defined: ${taken.join(', ')}; nothing was changed`)
}

/** The error for a definition of another source. */
export function foreign(what: string, name: string, source: string): RotaError {
  if (isJobsSource(source))
    return new RotaError(
      'DEFINITION_CONFLICT',
      `${name} is a command job; \`rota job remove ${name}\` ends it`,
    )
  return new RotaError(
    'DEFINITION_CONFLICT',
    `${what} ${name} is defined by ${source}; remove it there and start again`,
  )
}
