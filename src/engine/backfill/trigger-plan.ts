import { backfillOrders, itemOfInstant, type BackfillOrder } from '../../kernel/backfill/backfill.js'
import { readPace, type Pace } from '../../kernel/backfill/pace.js'
import { refuse } from '../../kernel/definition/errors.js'
import { fault, placeOf, within, type Place } from '../../kernel/definition/faults.js'
import { readInstant, type InstantInput } from '../../kernel/definition/read-instant.js'
import { readChoice, readConcurrency, readWhole } from '../../kernel/definition/read-value.js'
import type { StoredTrigger, Trigger, TriggerVersion } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { findJob, findTrigger } from '../sync/find-definition.js'
import { kindOf, type TriggerKinds } from '../trigger-kind.js'
import { instantChoices, mostInstants, planInstants } from './plan-instants.js'
import type { InstantChoice, InstantsPlan, SkippedInstants } from './plan-instants.js'
import { readRecordedInstants } from './recorded-instants.js'
import type { NewBackfill } from './stored-backfills.js'

/** The options of a backfill of a trigger. */
export interface TriggerBackfillOptions {
  /** The first instant. */
  readonly from: InstantInput
  /** The last instant, included. */
  readonly to: InstantInput
  /** Which due instants are repeated; default: those that are `missing`. */
  readonly only?: InstantChoice | undefined
  /** Which definition decides: the one in force at that time (default), or the current one for all of them. */
  readonly definition?: 'in-force' | 'current' | undefined
  /** Default: oldest first. */
  readonly order?: BackfillOrder | undefined
  /** How many runs concurrently; default: as many as the workers and the trigger allow. */
  readonly concurrency?: number | undefined
  /** How many runs in a period, such as `10/1m`; default: no limit. */
  readonly pace?: string | undefined
  /** The most due instants that are repeated, in its order. */
  readonly limit?: number | undefined
}

/** The plan of a backfill of a trigger. */
export interface TriggerPlan extends InstantsPlan {
  readonly backfill: Omit<NewBackfill, 'by' | 'reason'>
  /** The items that it repeats, in its order. */
  readonly items: readonly string[]
}

/** Plans a backfill of a trigger; throws one error with all faults of the request. */
export async function planTriggerBackfill(
  store: Store,
  request: {
    readonly kinds: TriggerKinds
    readonly trigger: string
    readonly options: TriggerBackfillOptions
    readonly now: Instant
  },
): Promise<TriggerPlan> {
  const stored = await findTrigger(store, request.trigger)
  const asked = readAsked(request.options)
  const place = placeOf()
  const versions = await versionsOf(store, { kinds: request.kinds, stored, asked, place })
  refuse('the backfill', place.faults)
  const { fromAt, untilAt, only, order, limit } = asked
  const job = await findJob(store, stored.trigger.job)
  const recorded = await readRecordedInstants(store, { trigger: stored.trigger.name, fromAt, untilAt })
  const decidedUntil = stored.active ? Math.min(stored.cursorAt, request.now) : request.now
  const plan = planInstants({ versions, job, fromAt, untilAt, decidedUntil, recorded, only })
  if (plan === undefined) return tooMany(place)
  const ordered = order === 'oldest-first' ? plan.run : plan.run.toReversed()
  const skip = [...plan.skip, ...beyond(ordered.slice(limit))]
  const run = ordered.slice(0, limit)
  const texts = run.map(({ at }) => formatInstant(at))
  const [first = '', last = first] = [texts[0], texts.at(-1)]
  const skipped = countsOf(skip)
  const { concurrency, pace } = asked
  const about = { trigger: stored.trigger.name, asset: null, only, order, concurrency, pace }
  return { run, skip, backfill: { ...about, first, last, skipped }, items: run.map(itemOfInstant) }
}

interface Asked {
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly only: InstantChoice
  readonly order: BackfillOrder
  readonly definition: 'in-force' | 'current'
  readonly concurrency: number | null
  readonly pace: Pace | null
  readonly limit: number
}

function readAsked(options: TriggerBackfillOptions): Asked {
  const place = placeOf()
  const fromAt = readInstant(options.from, within(place, 'from'))
  const untilAt = readInstant(options.to, within(place, 'to'))
  if (fromAt !== undefined && untilAt !== undefined && untilAt < fromAt)
    fault(
      within(place, 'to'),
      `${formatInstant(untilAt)} contradicts \`from\` (${formatInstant(fromAt)})`,
      'an instant at or after it',
    )
  const only = readChoice(options.only, instantChoices, within(place, 'only'))
  const order = readChoice(options.order, backfillOrders, within(place, 'order'))
  const definition = readChoice(options.definition, ['in-force', 'current'], within(place, 'definition'))
  const concurrency = readConcurrency(options.concurrency, within(place, 'concurrency'))
  const pace = readPace(options.pace, within(place, 'pace'))
  const limit = readWhole(options.limit, { min: 1, max: mostInstants }, within(place, 'limit'))
  refuse('the backfill', place.faults)
  return {
    fromAt: fromAt as Instant,
    untilAt: untilAt as Instant,
    only: only ?? 'missing',
    order: order ?? 'oldest-first',
    definition: definition ?? 'in-force',
    concurrency: concurrency ?? null,
    pace: pace ?? null,
    limit: limit ?? mostInstants,
  }
}

/** The versions that decide. Only due instants that follow from a definition can be repeated. */
async function versionsOf(
  store: Store,
  given: { kinds: TriggerKinds; stored: StoredTrigger; asked: Asked; place: Place },
) {
  const { kinds, stored, asked, place } = given
  const { trigger, version } = stored
  const instantsOf = (one: TriggerVersion['trigger']) => {
    const kind = kindOf(kinds, one)
    return kind.origin === 'trigger' && kind.isChain !== true ? kind.instants(one) : undefined
  }
  if (instantsOf(trigger) === undefined)
    fault(
      within(place, 'trigger'),
      `${trigger.name} has no due instants that could be computed again`,
      'a trigger with `cron`, `every` or `at`; for an asset, `rota asset backfill`',
    )
  const current = {
    trigger: movingAll(trigger),
    version,
    name: trigger.name,
    validFrom: -Infinity,
    validUntil: undefined,
    tzdata: '',
  }
  const versions = asked.definition === 'current' ? [current] : await store.versions(trigger.name)
  return versions.map((one) => ({ ...one, instants: instantsOf(one.trigger) }))
}

/** The trigger, with calendars that also move instants before its definition. */
function movingAll(trigger: Trigger): Trigger {
  const { calendar } = trigger.schedule
  if (calendar?.movesFromAt === undefined) return trigger
  const { movesFromAt: _, ...rules } = calendar
  return { ...trigger, schedule: { ...trigger.schedule, calendar: rules } }
}

function tooMany(place: Place): never {
  fault(within(place, 'from'), `more than ${mostInstants} instants were due since then`, 'a shorter time')
  refuse('the backfill', place.faults)
  throw new Error('unreachable')
}

function beyond(rest: readonly { readonly at: Instant }[]): SkippedInstants[] {
  if (rest.length === 0) return []
  const ats = rest.map(({ at }) => at)
  const [firstAt, lastAt] = [Math.min(...ats), Math.max(...ats)]
  return [{ firstAt, lastAt, count: rest.length, reason: 'limit', detail: undefined }]
}

function countsOf(skip: readonly SkippedInstants[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { reason, count } of skip) counts[reason] = (counts[reason] ?? 0) + count
  return counts
}
