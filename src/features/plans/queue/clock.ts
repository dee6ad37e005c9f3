import { ClockGuard, type ClockDoubt } from '../../../engine/scheduler/clock-guard.js'
import type { Store } from '../../../store/port.js'
import { systemClock } from '../../../time/clock.js'

/** The time of a queue, and for how long it was steady. */
export type QueueClock = ClockGuard

/** The store of a queue. */
export type QueueStore = Store

/** Waits until the wall clock is accepted, as `rota up` does at its start; returns the guard of the clock. */
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

/** For how long time is known to have been steady; writes nothing. */
export async function steadyMs(store: Store): Promise<number> {
  const guard = await ClockGuard.open(store, systemClock, { acceptClock: true, history: 'read' })
  return guard.steadyMs()
}
