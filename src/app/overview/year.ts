import type { TriggerKinds } from '../../engine/trigger-kind.js'
import type { LedgerReason } from '../../kernel/ledger/ledger.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import { DAY_MS } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'
import { formatCivil } from '../../time/local-time.js'
import { nextTurn } from '../../time/turn.js'
import { zoneOf, type Zone } from '../../time/zone.js'
import { exclusions, instantsToCome } from './due.js'
import { bucketsOf } from './timeline.js'

/** Instants beyond this number are not counted; only triggers that are due every few seconds have more. */
const mostInstants = 20_000
const instantsPerTurn = 500

interface Day {
  readonly date: string
  readonly fromAt: Instant
  readonly untilAt: Instant
  pending: number
  running: number
  done: number
  failed: number
  cancelled: number
  readonly ranges: Partial<Record<LedgerReason, number>>
  due: number
}

/** A calendar year of a trigger, by day in a zone. */
export async function yearOf(
  { store, kinds, now }: { readonly store: Store; readonly kinds: TriggerKinds; readonly now: Instant },
  {
    stored,
    year,
    timezone,
  }: { readonly stored: StoredTrigger; readonly year: number; readonly timezone: string },
) {
  const zone = zoneOf(timezone)
  const days = daysOf(zone, year)
  const { fromAt } = days[0] as Day
  const { untilAt } = days.at(-1) as Day
  const trigger = stored.trigger.name
  for (const alike of daysAlike(days.filter((day) => day.fromAt <= now)))
    await countRuns(store, trigger, alike)
  for (const range of await store.ledger({ trigger, fromAt, untilAt: untilAt - 1 })) {
    for (const day of days) {
      if (range.firstAt < day.untilAt && range.lastAt >= day.fromAt)
        day.ranges[range.reason] = (day.ranges[range.reason] ?? 0) + 1
    }
  }
  const dueUntil = await countDue(days, { kinds, stored, afterAt: Math.max(now, fromAt - 1) })
  return {
    trigger,
    timezone: zone.name,
    fromAt,
    untilAt,
    dueUntil,
    days: days.map(({ untilAt: _until, ...day }) => day),
  }
}

function daysOf(zone: Zone, year: number): Day[] {
  const days: Day[] = []
  const end = Date.UTC(year + 1, 0, 1)
  for (let local = Date.UTC(year, 0, 1); local < end; local += DAY_MS) {
    days.push({
      date: formatCivil(local).slice(0, 10),
      fromAt: startOf(zone, local),
      untilAt: startOf(zone, local + DAY_MS),
      pending: 0,
      running: 0,
      done: 0,
      failed: 0,
      cancelled: 0,
      ranges: {},
      due: 0,
    })
  }
  return days
}

/** The instant at which a local day begins; if clocks skip midnight, the instant of the jump. */
function startOf(zone: Zone, local: number): Instant {
  const found = zone.resolve(local)
  if (found.kind === 'unique') return found.at
  return found.kind === 'overlap' ? found.first : found.jumpAt
}

/** Groups neighbouring days of the same length: all, except at clock changes. */
function daysAlike(days: readonly Day[]): Day[][] {
  const groups: Day[][] = []
  for (const day of days) {
    const group = groups.at(-1)
    if (group?.[0] !== undefined && lengthOf(group[0]) === lengthOf(day)) group.push(day)
    else groups.push([day])
  }
  return groups
}

function lengthOf({ fromAt, untilAt }: Day): number {
  return untilAt - fromAt
}

async function countRuns(store: Store, trigger: string, days: readonly Day[]): Promise<void> {
  const [first, last] = [days[0] as Day, days.at(-1) as Day]
  const bucketMs = lengthOf(first)
  const { fromAt } = first
  const tally = await store.tally({ triggers: [trigger], fromAt, untilAt: last.untilAt, bucketMs })
  for (const { bucketAt, ...counts } of bucketsOf(tally)) {
    Object.assign(days[(bucketAt - fromAt) / bucketMs] as Day, counts)
  }
}

/** Counts the upcoming instants of each day; returns how far it got. */
async function countDue(
  days: readonly Day[],
  { kinds, stored, afterAt }: { kinds: TriggerKinds; stored: StoredTrigger; afterAt: Instant },
): Promise<Instant> {
  const untilAt = (days.at(-1) as Day).untilAt
  let [count, index] = [0, 0]
  const isExcluded = exclusions(stored)
  for (const at of instantsToCome(kinds, stored, { afterAt, untilAt: untilAt - 1 })) {
    if (isExcluded(at) !== undefined) continue
    while (at >= (days[index] as Day).untilAt) index += 1
    const day = days[index] as Day
    if (count >= mostInstants) {
      // The count of this day is incomplete.
      day.due = 0
      return day.fromAt
    }
    day.due += 1
    count += 1
    if (count % instantsPerTurn === 0) await nextTurn()
  }
  return untilAt
}
