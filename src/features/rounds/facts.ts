import type { Instant } from '../../time/instant.js'
import type { StateEntry } from '../../kernel/state/state-entry.js'
import type { Revisioned, RoundFacts } from './plan.js'
import { freshnessKey, type Freshness } from '../../kernel/sla/freshness.js'
import { serviceRunId, type Cycle, type ServiceTiming } from './round.js'
import type { DueTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'

/** Reads what the ticks of rounds need. */
export async function roundFacts(
  store: Store,
  due: readonly DueTrigger[],
  { startedAt }: { readonly startedAt: Instant },
): Promise<ReadonlyMap<string, RoundFacts>> {
  const rounds = due.map(({ trigger }) => trigger)
  const cycles = await openCycles(store, rounds)
  const timings = await serviceTimings(store, new Set(rounds.flatMap(servicesOf)))
  const jobs = new Map((await store.jobs()).map(({ job }) => [job.name, job]))
  const successes = await lastSuccesses(store, rounds)
  const facts = rounds.map(async ({ name }): Promise<[string, RoundFacts]> => {
    const cycle = cycles.get(name)
    const isResumed = cycle !== undefined && (await isTakenUp(store, { name, cycle: cycle.value, startedAt }))
    return [name, { cycle, timings, jobs, isResumed, freshness: successes.get(name) }]
  })
  return new Map(await Promise.all(facts))
}

/** Whether the trigger is a round. */
export function isRound(trigger: Trigger): boolean {
  return trigger.round !== undefined
}

/** The open cycles of rounds, by name. */
export async function openCycles(
  store: Store,
  rounds: readonly Trigger[],
): Promise<ReadonlyMap<string, Revisioned<Cycle>>> {
  const names = rounds.map(({ name }) => name)
  return byName<Cycle>(await store.stateEntries({ kind: 'cycle', names, items: [''], limit: names.length }))
}

/** The last successes of rounds with `notOlderThan`, by name. */
async function lastSuccesses(
  store: Store,
  rounds: readonly Trigger[],
): Promise<ReadonlyMap<string, Revisioned<Freshness>>> {
  const names = rounds.filter(({ sla }) => sla?.notOlderThanMs !== undefined).map(({ name }) => name)
  if (names.length === 0) return new Map()
  const { kind, item } = freshnessKey('')
  return byName<Freshness>(await store.stateEntries({ kind, names, items: [item], limit: names.length }))
}

/** The timings of services, by name. */
export async function serviceTimings(
  store: Store,
  services: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Revisioned<ServiceTiming>>> {
  const names = [...services]
  return byName<ServiceTiming>(
    await store.stateEntries({ kind: 'service', names, items: [''], limit: names.length }),
  )
}

/** The names of a round's services, in its order. */
export function servicesOf({ round }: Trigger): readonly string[] {
  return round?.services.map(({ job }) => job) ?? []
}

/** A cycle is resumed if a process that started later continues it, or if its last run was lost with its worker. */
async function isTakenUp(
  store: Store,
  { name, cycle, startedAt }: { name: string; cycle: Cycle; startedAt: Instant },
): Promise<boolean> {
  if (cycle.beganAt < startedAt) return true
  const last = cycle.results.at(-1)?.service
  if (last === undefined || cycle.current !== null) return false
  const run = await store.run(serviceRunId(name, last, cycle.checkedAt))
  return (run?.crashes ?? 0) > 0
}

function byName<Value>(notes: readonly StateEntry[]): ReadonlyMap<string, Revisioned<Value>> {
  return new Map(
    notes.map(({ name, value, revision }) => [name, { value: value as unknown as Value, revision }]),
  )
}
