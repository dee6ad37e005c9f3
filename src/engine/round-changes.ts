import { formatDuration } from '../time/duration.js'
import type { Instant } from '../time/instant.js'
import { RotaError } from '../model/errors.js'
import type { StoredTrigger, Trigger } from '../model/trigger.js'
import type { Store } from '../store/store.js'
import { isRound } from './rounds.js'

/**
 * A round begins with a check, whenever it is started or changed. Its grid stays while its interval does, and the check
 * is one more due instant beside it; another interval has a grid of its own.
 */
export function anchoredRound(trigger: Trigger, current: StoredTrigger | undefined, now: Instant): Trigger {
  const { schedule } = trigger
  if (schedule.kind !== 'interval') return trigger
  const before = current?.trigger.schedule
  if (before === undefined) return { ...trigger, schedule: { ...schedule, anchorAt: now } }
  // The version before answers for everything up to now.
  const alsoAt = now + 1
  const isSame = before.kind === 'interval' && before.everyMs === schedule.everyMs
  const anchorAt = isSame ? (before.anchorAt ?? alsoAt) : alsoAt
  return { ...trigger, schedule: { ...schedule, anchorAt, alsoAt } }
}

/** Refuses rounds that want one service at two different intervals: it has one timing, whoever runs it. */
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
  const faults = differingIntervals([...rounds, ...stored.map(({ trigger }) => trigger)])
  if (faults.length === 0) return
  const hint = 'give the service one `every` in all of them'
  throw new RotaError('DEFINITION_CONFLICT', `rounds differ about a service: ${faults.join('; ')}; ${hint}`)
}

function differingIntervals(rounds: readonly Trigger[]): string[] {
  const first = new Map<string, { round: string; everyMs: number }>()
  const faults: string[] = []
  for (const { name, round } of rounds) {
    for (const { job, everyMs } of round?.services ?? []) {
      const known = first.get(job)
      if (known === undefined) first.set(job, { round: name, everyMs })
      else if (known.everyMs !== everyMs)
        faults.push(
          `${job} every ${formatDuration(known.everyMs)} in ${known.round}, every ${formatDuration(everyMs)} in ${name}`,
        )
    }
  }
  return faults
}
