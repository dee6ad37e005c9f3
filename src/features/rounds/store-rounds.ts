import type { Calendars } from '../../kernel/calendar/define-calendar.js'
import { storedBlackouts, withBlackouts } from '../../engine/sync/calendars.js'
import { define, end } from '../../engine/sync/sync.js'
import { refuseOtherIntervals } from './changes.js'
import { isRound } from './facts.js'
import { noteUnknownServices, readRound, tooSeldom, type RoundInput } from './definition.js'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { placeOf, shown, within } from '../../kernel/definition/faults.js'
import { didYouMean, noneNamed } from '../../kernel/definition/read-value.js'
import { slaInput } from '../../kernel/sla/sla.js'
import { jobsOf, type StoredTrigger, type Trigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { kindsOf } from '../../engine/trigger-kind.js'
import { roundKind } from './kind.js'

/** A round can replace only a round. */
const kinds = kindsOf([roundKind])

/** The source of what is defined at run time. */
const api = 'api'

/** Starts a round, or changes the interval or list of a running one; omitted options stay as stored. */
export async function startRound(
  store: Store,
  request: {
    readonly name: string
    readonly options: Partial<RoundInput>
    readonly calendars?: Calendars | undefined
    readonly now: Instant
  },
): Promise<Trigger> {
  const { name, options, calendars, now } = request
  const known = await knownRound(store, name)
  if (known === undefined) await refuseTaken(store, name)
  const hasNews = Object.values(options).some((value) => value !== undefined)
  if (known?.active === true && !hasNews) return known.trigger
  if (known === undefined && !hasNews) throw await unknownRound(store, name)
  const read = await readStarted(store, { name, input: completed(options, known?.trigger), calendars })
  const trigger =
    known === undefined || hasRules(options)
      ? withBlackouts(read, await storedBlackouts(store))
      : withRulesOf(known.trigger, read)
  // A program that starts a round at every boot must not discard the cycle that a crash interrupted.
  if (known?.active === true && isSame(trigger, known.trigger)) return known.trigger
  await refuseUnknownJobs(store, trigger)
  await refuseOtherIntervals(store, [trigger], (one) => one.trigger.name === name)
  await define(store, { kinds, source: api, triggers: [trigger], now })
  return trigger
}

/** Stops a round that was started at run time: its current service finishes, and the rest of its cycle is kept. */
export async function stopRound(
  store: Store,
  { name, now }: { readonly name: string; readonly now: Instant },
): Promise<void> {
  const round = await findRound(store, name)
  if (!round.active) return
  if (round.source !== api) {
    const advice = `\`rota pause ${name}\` holds it, or remove it there`
    throw new RotaError('DEFINITION_CONFLICT', `round ${name} is defined by ${round.source}; ${advice}`)
  }
  await end(store, { kinds, source: api, names: [name], now })
}

/** Warnings about the intervals of a round, for the caller that starts it. */
export async function roundWarning(store: Store, name: string): Promise<string | undefined> {
  return tooSeldom((await findRound(store, name)).trigger)
}

/** A round by its name, running or stopped. */
export async function findRound(store: Store, name: string): Promise<StoredTrigger> {
  const round = await knownRound(store, name)
  if (round === undefined) throw await unknownRound(store, name)
  return round
}

async function knownRound(store: Store, name: string): Promise<StoredTrigger | undefined> {
  const [found] = await store.triggers({ names: [name] })
  return found !== undefined && isRound(found.trigger) ? found : undefined
}

/** A round must not replace a trigger that was defined at run time. */
async function refuseTaken(store: Store, name: string): Promise<void> {
  const [taken] = await store.triggers({ names: [name], active: true })
  if (taken !== undefined)
    throw new RotaError('DEFINITION_CONFLICT', `${name} is already a trigger that is not a round`)
}

async function unknownRound(store: Store, name: string): Promise<RotaError> {
  const names = (await store.triggers()).flatMap(({ trigger }) => (isRound(trigger) ? [trigger.name] : []))
  const list = 'rota round list --all'
  return new RotaError('TRIGGER_UNKNOWN', noneNamed('round is named', name, { known: names, list }))
}

/** The options combined with the stored ones: a restart needs only the name. */
function completed(options: Partial<RoundInput>, known: Trigger | undefined): RoundInput {
  const { schedule, round, priority, sla } = known ?? {}
  const storedMs = schedule?.kind === 'interval' ? schedule.everyMs : undefined
  const stored = round?.services.map(({ job, everyMs }) =>
    // A service with the interval of its round keeps following it.
    everyMs === storedMs ? job : { job, every: everyMs },
  )
  return {
    every: (options.every ?? storedMs) as RoundInput['every'],
    services: (options.services ?? stored) as RoundInput['services'],
    priority: options.priority ?? priority,
    enabled: options.enabled ?? true,
    sla: options.sla ?? (sla && slaInput(sla)),
    calendar: options.calendar,
    blackouts: options.blackouts,
    timezone: options.timezone,
  }
}

function hasRules({ calendar, blackouts, timezone }: Partial<RoundInput>): boolean {
  return calendar !== undefined || blackouts !== undefined || timezone !== undefined
}

/** Calendars are stored with their days, not with the options that named them, so they are kept as stored. */
function withRulesOf(known: Trigger, trigger: Trigger): Trigger {
  const { calendar } = known.schedule
  return calendar === undefined ? trigger : { ...trigger, schedule: { ...trigger.schedule, calendar } }
}

/** Whether two definitions of a round differ only in the anchor of the grid. */
function isSame(one: Trigger, other: Trigger): boolean {
  const told = ({ schedule, round, priority, enabled, sla }: Trigger): string => {
    const everyMs = schedule.kind === 'interval' ? schedule.everyMs : undefined
    return JSON.stringify([
      everyMs,
      round?.services.map(({ job, everyMs }) => [job, everyMs]),
      priority,
      enabled,
      sla,
      schedule.calendar,
    ])
  }
  return told(one) === told(other)
}

/** The round to start. Unknown services are reported together with other faults of its list. */
async function readStarted(
  store: Store,
  written: {
    readonly name: string
    readonly input: RoundInput
    readonly calendars: Calendars | undefined
  },
): Promise<Trigger> {
  const { name, input, calendars } = written
  const place = placeOf()
  const trigger = readRound({ name, input, defaults: { calendars } }, place)
  if (trigger !== undefined) return trigger
  const jobs = new Set((await store.jobs()).map(({ job }) => job.name))
  noteUnknownServices(input.services, jobs, within(place, 'services'))
  refuse(`round ${shown(name)}`, place.faults)
  throw new Error(`round ${name} has a fault that was not noted`)
}

async function refuseUnknownJobs(store: Store, trigger: Trigger): Promise<void> {
  const known = (await store.jobs()).map(({ job }) => job.name)
  const unknown = jobsOf(trigger).filter((job) => !known.includes(job))
  const [first] = unknown
  if (first === undefined) return
  const message = `round ${trigger.name} names services that are not jobs: ${unknown.join(', ')}`
  throw new RotaError('JOB_UNKNOWN', `${message}${didYouMean(first, known)}`)
}
