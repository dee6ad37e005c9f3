import type { Store } from '../store/port.js'
import type { Clock } from '../time/clock.js'
import type { Events } from './events.js'
import type { Look } from './loop.js'
import type { ClockGuard } from './scheduler/clock-guard.js'
import type { ErrorTracer } from './worker/error-tracer.js'

/** A loop that a feature runs alongside the scheduler, in every process with that role. */
export interface FeatureLoop {
  /** Its name in messages. */
  readonly name: string
  readonly begin: (context: FeatureLoopContext) => RunningLoop
  /** Whether it depends on the definitions it was created with: then a reload stops it and starts another. */
  readonly isOfDefinitions?: boolean | undefined
}

/** What the engine gives a loop of a feature. */
export interface FeatureLoopContext {
  readonly store: Store
  readonly clock: Clock
  readonly guard: ClockGuard
  readonly events: Events
  readonly tracer: ErrorTracer
  /** A name that no other process has. */
  readonly holder: string
  /** The loop looks within this time after any commit, whatever its step returns. */
  readonly pollMs: number
  /** Makes the loop look immediately. */
  readonly wake: () => void
  /** Called while new runs are being committed, so that a worker's turn can join the commit. */
  readonly onRuns: () => void
}

/** A loop of a feature that has begun. */
export interface RunningLoop {
  /** One look: does what is due and returns when to look again. Not called while the process drains. */
  step(): Promise<Look>
  /** Called after the last look; waits for work in progress. */
  stop(): Promise<void>
}
