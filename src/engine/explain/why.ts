import type { Instant } from '../../time/instant.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { exclusionAt, type Exclusion } from '../../kernel/calendar/calendar.js'
import { strongestAt } from '../../kernel/tick/hold-cut.js'
import { planningTargets, type Hold } from '../../kernel/hold/hold.js'
import { isAddition, type RecordedRange } from '../../kernel/ledger/ledger.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import type { Run } from '../../kernel/run/run.js'
import type { Breach } from '../../kernel/sla/deadline.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import { kindOf, type TriggerKinds } from '../trigger-kind.js'
import { breaches } from './breaches.js'
import { lastSignOfLife } from './sign-of-life.js'
import { dueBackwards, dueInstants, isChain, rangeOver, type Recorded, type Window } from './due-instants.js'

/** The explanation of a due instant, or of consecutive due instants, of a trigger. */
export type Explanation =
  /** It became a run. */
  | { readonly kind: 'run'; readonly at: Instant; readonly run: Run }
  /** It did not run, for a recorded reason. */
  | {
      readonly kind: 'range'
      readonly range: RecordedRange
      readonly blocker: Run | undefined
      /** The last sign of life of an engine before, if nothing was running then. */
      readonly lastSignAt?: Instant | undefined
    }
  /** A hold covers its instants from `at` to `lastAt`: they will not run unless the hold is released with catch-up. */
  | { readonly kind: 'held'; readonly at: Instant; readonly lastAt: Instant; readonly hold: Hold }
  /** A calendar or a blackout excludes its instants from `at` to `lastAt`: they will not run. */
  | { readonly kind: 'excluded'; readonly at: Instant; readonly lastAt: Instant; readonly by: Exclusion }
  /** It is due and not planned yet: no scheduler runs, or planning is held now. */
  | {
      readonly kind: 'waiting'
      readonly at: Instant
      readonly hold: Hold | undefined
      /** The last sign of life of an engine, if no scheduler runs. */
      readonly lastSignAt?: Instant | undefined
    }
  /** It is in the future. */
  | { readonly kind: 'future'; readonly at: Instant }
  /** The trigger is not due at that instant; the nearest ones are. */
  | {
      readonly kind: 'not-due'
      readonly at: Instant
      readonly beforeAt: Instant | undefined
      readonly afterAt: Instant | undefined
    }
  /** The trigger did not exist then, or was disabled or removed. */
  | {
      readonly kind: 'not-defined'
      readonly at: Instant
      readonly definedAt: Instant | undefined
      readonly endedAt: Instant | undefined
    }
  /** A due instant without any record; this must never happen. */
  | { readonly kind: 'unexplained'; readonly at: Instant }

/** The answer to why: what happened in a range of time, and which runs others started for the trigger. */
export interface Why {
  readonly trigger: string
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly explanations: readonly Explanation[]
  /** Manual runs of the trigger in that time, in addition to its own. */
  readonly beside: readonly Run[]
  /** The breaches of the trigger's SLA in that time, the oldest first. */
  readonly breaches: readonly Breach[]
  /** Whether there are more than shown: the newest up to now are shown, then the future ones. */
  readonly more: boolean
  /** How many due instants of the range are before the shown ones; counted up to ten thousand. */
  readonly earlier: number
}

const most = 200
const mostCounted = 10_000

/** Explains every due instant of a trigger in `[fromAt, untilAt]`; if nothing was due, it returns the nearest instants. */
export async function why(
  store: Store,
  request: { kinds: TriggerKinds; trigger: string; fromAt: Instant; untilAt: Instant; now: Instant },
): Promise<Why> {
  const { kinds, fromAt, untilAt, now } = request
  const [trigger] = await store.triggers({ names: [request.trigger] })
  if (trigger === undefined) {
    const known = (await store.triggers()).map((one) => one.trigger.name)
    const message = noneNamed('trigger is named', request.trigger, { known, list: 'rota list' })
    throw new RotaError('TRIGGER_UNKNOWN', message)
  }
  const facts = await readFacts(store, { kinds, trigger }, { fromAt, untilAt })
  const past = explainPast(facts, { fromAt, untilAt, now })
  const future = explainFuture(facts, { fromAt, untilAt, now }, most - past.length)
  const found = [...past, ...future.explanations]
  const [first] = past
  const earlier =
    first === undefined ? 0 : await countBefore(store, facts, { fromAt, untilAt: instantOf(first) - 1 })
  return {
    trigger: request.trigger,
    fromAt,
    untilAt,
    explanations: found.length === 0 ? [nothingDue(facts, fromAt)] : await completed(store, found, now),
    beside: facts.beside,
    breaches: (
      await breaches(store, { names: [request.trigger], fromAt, untilAt, limit: most })
    ).toReversed(),
    more: earlier > 0 || future.isMore,
    earlier,
  }
}

interface Facts extends Recorded {
  readonly runs: ReadonlyMap<Instant, Run>
  /** Runs before this instant were not read. */
  readonly runsFrom: Instant
  readonly holds: readonly Hold[]
  readonly beside: readonly Run[]
}

async function readFacts(
  store: Store,
  { kinds, trigger }: Pick<Recorded, 'kinds' | 'trigger'>,
  window: Window,
): Promise<Facts> {
  const isTimed = kindOf(kinds, trigger.trigger).origin === 'trigger'
  const name = trigger.trigger.name
  const ranges = await store.ledger({ trigger: name, ...window })
  const { own, beside } = await newestRuns(store, { name, isTimed }, window)
  const runs = new Map(own.map((run) => [run.dueAt, run]))
  const runsFrom = own.length > most ? (own.at(-1)?.dueAt ?? window.fromAt) : window.fromAt
  const holds = await store.holds()
  const versions = await store.versions(name)
  return { kinds, trigger, versions, ranges, runs, runsFrom, holds, beside }
}

/** The newest runs of a trigger, its own and the others; one more than is shown, to know whether there are more. */
async function newestRuns(
  store: Store,
  { name, isTimed }: { name: string; isTimed: boolean },
  { fromAt, untilAt }: Window,
): Promise<{ own: readonly Run[]; beside: readonly Run[] }> {
  const limit = most + 1
  const filter = { trigger: name, sinceAt: fromAt, untilAt, limit }
  let page = await store.runs(filter)
  const beside = page.filter((run) => run.origin !== 'trigger')
  const own = page.filter((run) => run.origin === 'trigger')
  // Kinds that are not timed have no own due instants, so all their runs are returned as `beside`.
  const wanted = isTimed ? limit : 0
  while (own.length < wanted && page.length === limit) {
    page = await store.runs({ ...filter, before: page.at(-1)?.id })
    own.push(...page.filter((run) => run.origin === 'trigger'))
  }
  return { own: own.slice(0, limit), beside }
}

/** Explains the newest instants up to now, oldest first. */
function explainPast(facts: Facts, { fromAt, untilAt, now }: Window & { now: Instant }): Explanation[] {
  const window = { fromAt: Math.max(fromAt, facts.runsFrom), untilAt: Math.min(untilAt, now) }
  const found = takeExplained(facts, { instants: dueBackwards(facts, window), now, limit: most })
  // A run may be inside a range, and ranges are found by their end, so the order is restored here.
  return found.toSorted((a, b) => instantOf(a) - instantOf(b))
}

function explainFuture(
  facts: Facts,
  { fromAt, untilAt, now }: Window & { now: Instant },
  room: number,
): { explanations: Explanation[]; isMore: boolean } {
  const instants = dueInstants(facts, { fromAt: Math.max(fromAt, now + 1), untilAt })
  const found = takeExplained(facts, { instants, now, limit: room + 1 })
  return { explanations: found.slice(0, room), isMore: found.length > room }
}

/** The first explanations of instants, each range once. */
function takeExplained(
  facts: Facts,
  { instants, now, limit }: { instants: Iterable<Instant>; now: Instant; limit: number },
): Explanation[] {
  const found: Explanation[] = []
  const listed = new Set<RecordedRange>()
  let looked = 0
  for (const at of instants) {
    const range = facts.runs.has(at) ? undefined : rangeOver(facts.ranges, at)
    if (range !== undefined && listed.has(range)) continue
    if (range !== undefined) listed.add(range)
    const explanation = explainInstant(facts, { at, range, now })
    const joined = joinHeld(found.at(-1), explanation)
    if (joined === undefined) found.push(explanation, ...laterAt(facts, at))
    else found[found.length - 1] = joined
    // A hold is one line, however long it is, so the number of examined instants needs its own limit.
    if (found.length >= limit || ++looked === mostCounted) break
  }
  return found
}

/** The ranges that were added for an instant later. */
function laterAt({ ranges }: Facts, at: Instant): Explanation[] {
  return ranges
    .filter((range) => isAddition(range) && range.firstAt === at)
    .map((range) => ({ kind: 'range', range, blocker: undefined }))
}

function instantOf(explanation: Explanation): Instant {
  return explanation.kind === 'range' ? explanation.range.firstAt : explanation.at
}

function explainInstant(
  facts: Facts,
  { at, range, now }: { at: Instant; range: RecordedRange | undefined; now: Instant },
): Explanation {
  const run = facts.runs.get(at)
  if (run !== undefined) return { kind: 'run', at, run }
  if (range !== undefined) return { kind: 'range', range, blocker: undefined }
  if (at > now) return excluded(facts, at) ?? { kind: 'future', at }
  if (at > facts.trigger.cursorAt) return unplanned(facts, at, now)
  return { kind: 'unexplained', at }
}

async function countBefore(store: Store, facts: Facts, window: Window): Promise<number> {
  if (isChain(facts)) {
    const trigger = facts.trigger.trigger.name
    return (await store.runInstants({ trigger, ...window, limit: mostCounted })).length
  }
  let count = 0
  const without = { ...facts, runs: new Map(), ranges: [] }
  for (const _ of dueBackwards(without, window)) if (++count === mostCounted) break
  return count
}

/** Due and not planned yet: because a hold covers it, planning is held now, or no scheduler runs. */
function unplanned(facts: Facts, at: Instant, now: Instant): Explanation {
  const holds = facts.holds.filter((hold) => !hold.catchUp && stopsPlanning(facts.trigger, hold))
  const hold = strongestAt(holds, at)
  if (hold !== undefined) return { kind: 'held', at, lastAt: at, hold }
  return excluded(facts, at) ?? { kind: 'waiting', at, hold: strongestAt(holds, now) }
}

/** Excluded instants are not recorded one by one, but together at the next tick of the trigger. */
function excluded({ trigger }: Facts, at: Instant): Explanation | undefined {
  const { calendar } = trigger.trigger.schedule
  const by = calendar === undefined ? undefined : exclusionAt(calendar, at).by
  return by === undefined ? undefined : { kind: 'excluded', at, lastAt: at, by }
}

/** Joins neighbours in one hold, or excluded by one rule, into one explanation. */
function joinHeld(before: Explanation | undefined, next: Explanation): Explanation | undefined {
  const isOneHold = before?.kind === 'held' && next.kind === 'held' && before.hold.id === next.hold.id
  const isOneRule =
    before?.kind === 'excluded' &&
    next.kind === 'excluded' &&
    before.by.rule === next.by.rule &&
    before.by.detail === next.by.detail
  if (!isOneHold && !isOneRule) return undefined
  return { ...before, at: Math.min(before.at, next.at), lastAt: Math.max(before.lastAt, next.lastAt) }
}

/** Adds the runs that blocked others, and the last sign of life before a downtime. */
async function completed(
  store: Store,
  explanations: readonly Explanation[],
  now: Instant,
): Promise<readonly Explanation[]> {
  const found: Explanation[] = []
  let signs = 0
  let isWaitingTold = false
  for (const one of explanations) {
    if (one.kind === 'range' && one.range.blocker !== undefined)
      found.push({ ...one, blocker: await store.run(one.range.blocker) })
    else if (wasDown(one) && signs++ < mostSigns)
      found.push({ ...one, lastSignAt: await lastSignOfLife(store, one.range.firstAt) })
    else if (one.kind === 'waiting' && one.hold === undefined && !isWaitingTold) {
      isWaitingTold = true
      found.push({ ...one, lastSignAt: await lastSignOfLife(store, now) })
    } else found.push(one)
  }
  return found
}

/** For how many downtimes the last sign of life is looked up. */
const mostSigns = 20

/** Whether instants were missed because no scheduler ran. */
export function wasDown(explanation: Explanation): explanation is Explanation & { kind: 'range' } {
  if (explanation.kind !== 'range') return false
  const { reason, rule, detail } = explanation.range
  return reason === 'missed' && detail === undefined && rule !== 'partition:none'
}

function nothingDue(facts: Facts, at: Instant): Explanation {
  const version = facts.versions.find(
    (one) =>
      one.validFrom < at && (one.validUntil === undefined || at <= one.validUntil) && one.trigger.enabled,
  )
  if (version === undefined && !isAfterNow(facts, at)) {
    const last = facts.versions.at(-1)
    return { kind: 'not-defined', at, definedAt: facts.versions[0]?.validFrom, endedAt: last?.validUntil }
  }
  const trigger = version?.trigger ?? facts.trigger.trigger
  const instants = kindOf(facts.kinds, trigger).instants(trigger)
  return { kind: 'not-due', at, beforeAt: instants?.previous(at), afterAt: instants?.next(at) }
}

function isAfterNow(facts: Facts, at: Instant): boolean {
  return facts.trigger.active && facts.trigger.trigger.enabled && at > facts.trigger.cursorAt
}

function stopsPlanning({ trigger }: StoredTrigger, { target }: Hold): boolean {
  return target === `trigger:${trigger.name}` || planningTargets.includes(target)
}
