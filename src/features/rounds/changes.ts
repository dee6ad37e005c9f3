import { formatDuration } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { StoredTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import type { DefineConflict, Store } from '../../store/port.js'
import { hasOwnInterval } from './due-services.js'
import { isRound, servicesOf, serviceTimings } from './facts.js'

/**
 * A round begins with a check whenever it is started or changed. Its grid stays as long as its interval does; the check
 * is then an additional due instant that is not on the grid. A new interval has a new grid.
 */
export function anchoredRound(trigger: Trigger, current: StoredTrigger | undefined, now: Instant): Trigger {
  const { schedule } = trigger
  if (schedule.kind !== 'interval') return trigger
  const before = current?.trigger.schedule
  if (before === undefined) return { ...trigger, schedule: { ...schedule, anchorAt: now } }
  // The previous version decides about everything up to now.
  const alsoAt = now + 1
  const isSame = before.kind === 'interval' && before.everyMs === schedule.everyMs
  const anchorAt = isSame ? (before.anchorAt ?? alsoAt) : alsoAt
  return { ...trigger, schedule: { ...schedule, anchorAt, alsoAt } }
}

/** Refuses rounds that give one service two different intervals: it has one timing in all rounds. */
export async function refuseOtherIntervals(
  store: Store,
  triggers: readonly Trigger[],
  isReplaced: (other: StoredTrigger) => boolean,
): Promise<void> {
  const rounds = triggers.filter(isRound)
  if (rounds.length === 0) return
  const stored = (await store.triggers()).filter(
    (one) => one.active && isRound(one.trigger) && !isReplaced(one),
  )
  const all = [...rounds, ...stored.map(({ trigger }) => trigger)]
  const differing = differingIntervals(all)
  if (differing.size === 0) return
  const timings = await serviceTimings(store, new Set(differing.keys()))
  // An interval that was set by hand applies in all rounds, if no list gives one.
  const isOwned = (job: string): boolean => timings.get(job)?.value.isSet === true && !isWritten(all, job)
  const faults = [...differing].flatMap(([job, found]) => (isOwned(job) ? [] : found))
  if (faults.length === 0) return
  const hint =
    'give the service one `every` in all of them, or none in any and set it with `rota round timing set`'
  throw new RotaError('DEFINITION_CONFLICT', `rounds differ about a service: ${faults.join('; ')}; ${hint}`)
}

/** Whether the list of one of the rounds gives a service an interval. */
function isWritten(rounds: readonly Trigger[], service: string): boolean {
  return rounds.some(
    (trigger) =>
      trigger.round?.services.some(
        ({ job, everyMs }) => job === service && hasOwnInterval(trigger, everyMs),
      ) === true,
  )
}

/** The different intervals that rounds give a service, by its name. */
function differingIntervals(rounds: readonly Trigger[]): ReadonlyMap<string, readonly string[]> {
  const first = new Map<string, { round: string; everyMs: number }>()
  const faults = new Map<string, string[]>()
  for (const { name, round } of rounds) {
    for (const { job, everyMs } of round?.services ?? []) {
      const known = first.get(job)
      if (known === undefined) first.set(job, { round: name, everyMs })
      else if (known.everyMs !== everyMs)
        faults.set(job, [
          ...(faults.get(job) ?? []),
          `${job} every ${formatDuration(known.everyMs)} in ${known.round}, every ${formatDuration(everyMs)} in ${name}`,
        ])
    }
  }
  return faults
}

/**
 * The jobs among the conflicts that are services of this program's rounds and of another's. A service has one name and
 * one timing wherever its code is, so each program may have its own code for it.
 */
export async function sharedServices(
  store: Store,
  conflicts: readonly DefineConflict[],
  own: { readonly name: string; readonly triggers: readonly Trigger[] },
): Promise<ReadonlySet<string>> {
  const listed = new Set(own.triggers.flatMap(servicesOf))
  const names = conflicts.map(({ name }) => name).filter((name) => listed.has(name))
  if (names.length === 0) return new Set()
  const others = (await store.triggers()).filter(({ active, source }) => active && source !== own.name)
  const elsewhere = new Set(others.flatMap(({ trigger }) => servicesOf(trigger)))
  return new Set(names.filter((name) => elsewhere.has(name)))
}
