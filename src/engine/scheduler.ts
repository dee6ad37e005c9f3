import type { Instant } from '../time/instant.js'
import { planTick, type Tick } from '../model/tick.js'
import type { DueTrigger } from '../model/trigger.js'
import type { Store } from '../store/store.js'
import type { ClockGuard } from './clock-guard.js'
import type { Events } from './events.js'
import type { Look } from './loop.js'

/** What a scheduler needs. */
export interface SchedulerOptions {
  readonly store: Store
  readonly guard: ClockGuard
  readonly events: Events
  /** Called while the ticks are on their way, so that a worker's turn can join their commit. */
  readonly onRuns: () => void
}

const batch = 500
const retryFaultyMs = 60_000

/** One look at the triggers: plans what is due, commits it, and says when to look again. */
export async function scheduleStep(options: SchedulerOptions): Promise<Look> {
  const { store, guard, events } = options
  const reading = guard.read()
  if (reading.kind !== 'ok') {
    events.emit('clock', { kind: reading.kind, byMs: reading.byMs })
    return { at: reading.againAt }
  }
  const { now } = reading
  const due = await store.due({ now, limit: batch })
  const { ticks, faulty } = plan(due, now, events)
  await commit(ticks, options)
  if (faulty > 0 && ticks.length === 0) return { afterMs: retryFaultyMs }
  if (due.length > 0) return { afterMs: 0 }
  return { at: (await store.nextTickAt({ now })) ?? Infinity }
}

/** A trigger whose definition cannot be evaluated here is reported and left as it is; the others go on. */
function plan(due: readonly DueTrigger[], now: Instant, events: Events): { ticks: Tick[]; faulty: number } {
  const ticks: Tick[] = []
  let faulty = 0
  for (const trigger of due) {
    try {
      ticks.push(planTick(trigger, now))
    } catch (error) {
      faulty += 1
      events.emit('trouble', { where: `trigger ${trigger.trigger.name}`, error, retryInMs: retryFaultyMs })
    }
  }
  return { ticks, faulty }
}

async function commit(ticks: readonly Tick[], { store, events, onRuns }: SchedulerOptions): Promise<void> {
  if (ticks.length === 0) return
  const committed = store.tick(ticks)
  if (ticks.some((tick) => tick.runs.length > 0 || tick.supersede !== undefined)) onRuns()
  const answers = await committed
  for (const [index, tick] of ticks.entries()) {
    if (answers[index] === 'stale') continue
    events.emit('tick', { trigger: tick.trigger, at: tick.at, runs: tick.runs, ranges: tick.ranges })
  }
}
