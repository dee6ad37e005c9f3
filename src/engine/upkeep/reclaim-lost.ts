import type { Store } from '../../store/port.js'
import type { ClockGuard } from '../scheduler/clock-guard.js'
import { Events } from '../events.js'
import { Upkeep } from './upkeep.js'

/**
 * Reclaims the runs of dead workers, once; returns how many. A worker whose lease is longer than the clock has been
 * steady is not judged yet.
 */
export async function reclaimLost(
  store: Store,
  guard: Pick<ClockGuard, 'now' | 'steadyMs'>,
): Promise<number> {
  const events = new Events()
  let count = 0
  events.on('run:lost', () => void (count += 1))
  const upkeep = new Upkeep({
    store,
    events,
    now: () => guard.now(),
    // Not 0: runs that workers gave up themselves are reclaimed even if the clock is not steady.
    steadyMs: () => Math.max(1, guard.steadyMs()),
    everyMs: 0,
    // No pruning: people read the history of a queue and remove it themselves.
    retentionMs: () => Infinity,
    onRuns: () => undefined,
  })
  await upkeep.step()
  return count
}
