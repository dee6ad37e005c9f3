import type { LedgerReason } from '../../kernel/ledger/ledger.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import { DAY_MS } from '../../time/civil.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { nextTurn } from '../../time/turn.js'
import { kindOf, type TriggerKinds } from '../trigger-kind.js'
import { chainCoverageOfDay } from './chain-coverage.js'
import { coverageOf } from './coverage.js'

/** The coverage of a trigger on one day. */
export interface DayCoverage {
  readonly due: number
  readonly run: number
  readonly explained: Readonly<Partial<Record<LedgerReason, number>>>
  /** The number of due instants with neither a run nor a reason; normally 0. */
  readonly unexplained: number
  /** The number of runs at instants that no definition makes due; normally 0. */
  readonly unexpected: number
}

/** A day in UTC, and its coverage if it was counted. */
export interface CoveredDay {
  readonly date: string
  readonly coverage: DayCoverage | undefined
}

/** How many due instants are computed before the remaining days are left to the next call. */
const mostInstants = 200_000

/** The requested days and triggers; whole days in UTC. */
export interface DaysRequest {
  readonly kinds: TriggerKinds
  readonly triggers: readonly StoredTrigger[]
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly now: Instant
}

/**
 * The coverage of triggers by day. A completely planned day never changes, so its counts are stored as a state entry
 * and stay when its runs are pruned. Days beyond the limit are not counted: the next request counts more of them.
 */
export async function coverageDays(
  store: Store,
  request: DaysRequest,
): Promise<ReadonlyMap<string, readonly CoveredDay[]>> {
  const found = new Map<string, readonly CoveredDay[]>()
  let left = mostInstants
  for (const stored of request.triggers) {
    const { days, due } = await daysOf(store, request, { stored, most: left })
    left = Math.max(0, left - due)
    found.set(stored.trigger.name, days)
    await nextTurn()
  }
  return found
}

async function daysOf(
  store: Store,
  { kinds, fromAt, untilAt, now }: DaysRequest,
  { stored, most }: { readonly stored: StoredTrigger; readonly most: number },
): Promise<{ readonly days: readonly CoveredDay[]; readonly due: number }> {
  const { name } = stored.trigger
  const starts = Array.from(
    { length: Math.round((untilAt - fromAt) / DAY_MS) },
    (_, i) => fromAt + i * DAY_MS,
  )
  const known = await keptDays(store, name, starts.map(dateOf))
  const fresh: { name: string; value: Json }[] = []
  const days: CoveredDay[] = []
  let due = 0
  for (const startAt of starts) {
    const date = dateOf(startAt)
    const kept = known.get(date)
    if (kept !== undefined || due >= most) {
      days.push({ date, coverage: kept })
      continue
    }
    const coverage = await dayOf(store, stored, { kinds, startAt })
    due += coverage.due
    days.push({ date, coverage })
    const isWhole = startAt + DAY_MS <= stored.cursorAt
    if (isWhole && coverage.unexplained === 0 && coverage.unexpected === 0)
      fresh.push({ name: date, value: { ...coverage } })
    await nextTurn()
  }
  const changes = fresh.map((entry) => ({ kind: 'coverage', item: name, ...entry }) as const)
  if (changes.length > 0) await store.changeState({ changes, now })
  return { days, due }
}

async function keptDays(
  store: Store,
  trigger: string,
  dates: readonly string[],
): Promise<ReadonlyMap<string, DayCoverage>> {
  const limit = dates.length
  const found = await store.stateEntries({ kind: 'coverage', names: dates, items: [trigger], limit })
  return new Map(found.map(({ name, value }) => [name, value as unknown as DayCoverage]))
}

async function dayOf(
  store: Store,
  stored: StoredTrigger,
  { kinds, startAt }: { readonly kinds: TriggerKinds; readonly startAt: Instant },
): Promise<DayCoverage> {
  const lastAt = startAt + DAY_MS - 1
  if (kindOf(kinds, stored.trigger).isChain === true) {
    const chain = await chainCoverageOfDay(store, {
      trigger: stored.trigger.name,
      fromAt: startAt,
      untilAt: lastAt,
    })
    return { ...chain, unexplained: 0, unexpected: 0 }
  }
  const found = await coverageOf(store, stored, { kinds, since: startAt - 1, until: lastAt })
  const { due, run, explained, unexplainedCount: unexplained, unexpectedCount: unexpected } = found
  return { due, run, explained, unexplained, unexpected }
}

function dateOf(at: Instant): string {
  return formatInstant(at).slice(0, 10)
}
