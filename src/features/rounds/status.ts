import { planningTargets, type Hold } from '../../kernel/hold/hold.js'
import { dueAgainAt, listedTiming } from './due-services.js'
import type { SkippedService } from '../../kernel/trigger/round-spec.js'
import { serviceRunId, type Cycle, type LastCheck, type ServiceResult, type ServiceTiming } from './round.js'
import { scheduleOf } from '../../kernel/trigger/schedule.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import { isRound, openCycles, servicesOf } from './facts.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { findRound } from './store-rounds.js'

/** The status of a round: its open cycle, or else the result of its last check. */
export interface RoundStatus {
  readonly name: string
  readonly intervalMs: number
  readonly services: readonly string[]
  /** The due instant of the last check. */
  readonly checkedAt: Instant | null
  /** Whether its cycle was resumed after a crash or a restart. */
  readonly resumed: boolean
  readonly currentService: string | null
  readonly remainingServices: readonly string[]
  readonly completedCount: number
  readonly results: readonly ServiceResult[]
  readonly skipped: readonly SkippedService[]
  /** Undefined while it is stopped or paused. */
  readonly nextCheckAt: Instant | null
}

/** The saved state of a round whose cycle is open. */
export interface RoundState {
  readonly name: string
  readonly checkedAt: Instant
  readonly servicesQueue: readonly string[]
  readonly currentService: string | null
  readonly results: readonly ServiceResult[]
}

/** When a service last ran and when it is due again, in Unix seconds. */
export interface ServiceTimes {
  readonly service: string
  readonly lastRunTimestamp: number | null
  readonly intervalSeconds: number
  readonly nextDueTimestamp: number | null
}

/** The status of one round. */
export async function roundStatus(store: Store, name: string, now: Instant): Promise<RoundStatus> {
  const round = await findRound(store, name)
  const { trigger } = round
  const cycle = (await openCycles(store, [trigger])).get(name)?.value
  const found = cycle === undefined ? await lastCheck(store, name) : await openCheck(store, cycle)
  const intervalMs = trigger.schedule.kind === 'interval' ? trigger.schedule.everyMs : 0
  const nextCheckAt = await nextCheck(store, round, now)
  return { name, intervalMs, services: servicesOf(trigger), ...found, nextCheckAt }
}

/** All rounds by name, on request including stopped ones. */
export async function storedRounds(
  store: Store,
  options: { all: boolean },
): Promise<readonly StoredTrigger[]> {
  const found = (await store.triggers()).filter(({ trigger }) => isRound(trigger))
  return found.filter(({ active }) => active || options.all)
}

/** The saved states of the rounds whose cycle is open, or of one. */
export async function roundStates(store: Store, name: string | undefined): Promise<readonly RoundState[]> {
  if (name !== undefined) await findRound(store, name)
  const names = name === undefined ? {} : { names: [name] }
  const notes = await store.stateEntries({ kind: 'cycle', ...names, limit: maxStateEntries })
  return notes.map((note) => {
    const { checkedAt, queue, current, results } = note.value as unknown as Cycle
    return {
      name: note.name,
      checkedAt,
      servicesQueue: queue,
      currentService: current?.service ?? null,
      results,
    }
  })
}

/** The timing of every service that ran or that a round lists, by name. */
export async function serviceTimes(store: Store): Promise<readonly ServiceTimes[]> {
  const notes = await store.stateEntries({ kind: 'service', limit: maxStateEntries })
  const known = new Map(notes.map(({ name, value }) => [name, value as unknown as ServiceTiming]))
  for (const { trigger } of await storedRounds(store, { all: false })) {
    for (const service of trigger.round?.services ?? [])
      known.set(service.job, listedTiming(trigger, service, known.get(service.job)))
  }
  return [...known]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([service, timing]) => timesOf(service, timing))
}

/** A timing as text. */
export function timesOf(service: string, timing: ServiceTiming): ServiceTimes {
  return {
    service,
    lastRunTimestamp: seconds(timing.lastRunAt),
    intervalSeconds: timing.everyMs / 1000,
    nextDueTimestamp: seconds(dueAgainAt(timing) ?? null),
  }
}

/** More services and rounds than any store has. */
const maxStateEntries = 100_000

type Found = Omit<RoundStatus, 'name' | 'intervalMs' | 'services' | 'nextCheckAt'>

async function openCheck(store: Store, cycle: Cycle): Promise<Found> {
  const { checkedAt, current, queue, results, skipped } = cycle
  const run = current === null ? undefined : await store.run(current.run)
  return {
    checkedAt,
    // A lost run is taken over before a tick can mark the cycle as resumed.
    resumed: cycle.resumed || (run?.crashes ?? 0) > 0,
    currentService: current?.service ?? null,
    remainingServices: queue,
    completedCount: results.length,
    results,
    skipped,
  }
}

/** The stored result of the last finished cycle. */
async function lastCheck(store: Store, name: string): Promise<Found> {
  const [note] = await store.stateEntries({ kind: 'check', names: [name], limit: 1 })
  const check = note?.value as unknown as LastCheck | undefined
  const { checkedAt = null, results = [], skipped = [] } = check ?? {}
  return {
    checkedAt,
    resumed: check !== undefined && (check.resumed || (await hasLostRuns(store, name, check))),
    currentService: null,
    remainingServices: [],
    completedCount: results.length,
    results,
    skipped,
  }
}

/** Whether a run of a check was lost with its worker; the last run of a cycle is taken over without a tick. */
async function hasLostRuns(store: Store, name: string, { checkedAt, results }: LastCheck): Promise<boolean> {
  const ids = results.map(({ service }) => serviceRunId(name, service, checkedAt))
  const runs = await Promise.all(ids.map((id) => store.run(id)))
  return runs.some((run) => (run?.crashes ?? 0) > 0)
}

async function nextCheck(store: Store, round: StoredTrigger, now: Instant): Promise<Instant | null> {
  const { trigger, active, cursorAt } = round
  if (!active || !trigger.enabled) return null
  const targets = new Set<string>([`trigger:${trigger.name}`, ...planningTargets])
  const held = (await store.holds({ openAt: now })).filter(({ target }: Hold) => targets.has(target))
  if (held.some(({ untilAt }) => untilAt === undefined)) return null
  const from = Math.max(cursorAt, now, ...held.map(({ untilAt }) => (untilAt ?? now) - 1))
  return scheduleOf(trigger.schedule).next(from) ?? null
}

function seconds(at: Instant | null): number | null {
  return at === null ? null : Math.floor(at / 1000)
}
