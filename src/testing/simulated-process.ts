import { Engine } from '../engine/engine.js'
import { Events } from '../engine/events.js'
import type { FeatureLoop } from '../engine/feature-loop.js'
import { ClockGuard } from '../engine/scheduler/clock-guard.js'
import { sync, type Source } from '../engine/sync/sync.js'
import type { TriggerKinds } from '../engine/trigger-kind.js'
import { Heartbeat } from '../engine/worker/keep-alive.js'
import type { ExecutableJob, RunContext } from '../engine/worker/perform.js'
import type { Job } from '../kernel/job/job.js'
import type { Store } from '../store/port.js'
import { crashable, type CrashableStore } from './crash-point.js'
import type { FakeClock } from './fake-clock.js'

/** Every hint arrives in a simulated world, so the poll is not needed. */
const pollMs = 3_600_000

/** The options of a simulated process. */
export interface ProcessOptions {
  readonly real: Store
  readonly kinds: TriggerKinds
  readonly clock: FakeClock
  readonly leaseMs: number
  /** The loops that features run alongside its scheduler. */
  readonly loops?: readonly FeatureLoop[] | undefined
  /** Called when it starts, after its definitions are written. */
  readonly prepare?: ((store: Store, now: number) => Promise<void>) | undefined
  readonly jobs: readonly Job[]
  /** The definitions that it writes at its start; absent if the store has them. */
  readonly source?: Source | undefined
  readonly concurrency: number
  readonly retentionMs: number
  /** Whether past hours are rolled up for the charts; default: true. */
  readonly countsHours?: boolean | undefined
  /** Receives its events; default: none. */
  readonly events?: Events | undefined
  readonly perform: (run: RunContext, clock: FakeClock) => Promise<void>
  readonly onCrash: () => void
  readonly newWorkerId: () => string
}

/** One simulated process: its own view of the store and the clock, and an engine between them. */
export class SimulatedProcess {
  readonly crashable: CrashableStore
  readonly #options: ProcessOptions

  constructor(options: ProcessOptions) {
    this.#options = options
    this.crashable = crashable(options.real, options.onCrash)
  }

  /** A process may die while it starts; then this never resolves. */
  async start(): Promise<void> {
    const { kinds, clock, source } = this.#options
    const { store } = this.crashable
    const guard = await ClockGuard.open(store, clock, { acceptClock: false })
    await guard.confirmed(() => undefined, new AbortController().signal)
    if (source !== undefined) await sync(store, source, { kinds, now: guard.now() })
    await this.#options.prepare?.(store, guard.now())
    await this.#engine(guard).start()
  }

  kill(): void {
    this.crashable.kill()
    this.#options.clock.stop()
  }

  #engine(guard: ClockGuard): Engine {
    const { kinds, clock, leaseMs, jobs, perform, newWorkerId, concurrency, retentionMs, loops } =
      this.#options
    const { store } = this.crashable
    const handler = (run: RunContext): Promise<void> => perform(run, clock)
    const executableJobs: ReadonlyMap<string, ExecutableJob> = new Map(
      jobs.map((job) => [job.name, { job, handler }]),
    )
    return new Engine({
      store,
      kinds,
      clock,
      guard,
      events: this.#options.events ?? new Events(),
      roles: { scheduler: true, worker: true },
      identity: { host: 'simulated', pid: 1, version: '0' },
      newWorkerId,
      keepAlive: (keep) => new Heartbeat({ ...keep, store, clock, now: () => guard.now() }),
      executableJobs: () => Promise.resolve(executableJobs),
      featureLoops: loops,
      concurrency,
      leaseMs,
      retentionMs,
      countsHours: this.#options.countsHours,
      pollMs,
      upkeepMs: leaseMs / 6,
    })
  }
}
