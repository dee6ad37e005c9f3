import { ClockGuard, type ClockDoubt } from '../../../engine/scheduler/clock-guard.js'
import type { Store } from '../../../store/port.js'
import { systemClock } from '../../../time/clock.js'

/** What says what counts as now, and for how long time was steady. */
export type QueueClock = ClockGuard

/** The store of a queue. */
export type QueueStore = Store

/** Waits until the wall clock is believed, as `rota up` does at its start; answers what then says what counts as now. */
export async function queueClock(
  store: Store,
  options: {
    readonly acceptClock: boolean
    readonly onDoubt: (doubt: ClockDoubt) => void
    readonly signal: AbortSignal
  },
): Promise<ClockGuard> {
  const { acceptClock, onDoubt, signal } = options
  const guard = await ClockGuard.open(store, systemClock, { acceptClock, history: 'kept' })
  await guard.confirmed(onDoubt, signal)
  return guard
}

/** For how long time is known to have been steady; changes nothing. */
export async function steadyMs(store: Store): Promise<number> {
  const guard = await ClockGuard.open(store, systemClock, { acceptClock: true, history: 'read' })
  return guard.steadyMs()
}
