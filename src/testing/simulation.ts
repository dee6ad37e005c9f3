/**
 * A simulated world in one process: the real engine, a real store, a fake clock, and processes that die at any
 * store call. Everything is derived from one seed, so that a failing simulation can be repeated.
 */
import type { FeatureLoop } from '../engine/feature-loop.js'
import type { RunContext } from '../engine/worker/perform.js'
import type { AssetJob } from '../kernel/partition/asset.js'
import { jobDefaults, type Job, type Queue } from '../kernel/job/job.js'
import type { Store } from '../store/port.js'
import { storesSettled, type CrashableStore } from './crash-point.js'
import { FakeClock } from './fake-clock.js'
import { SeededRandom } from './random.js'
import { SimulatedProcess } from './simulated-process.js'
import { timedKinds } from '../engine/timed/kinds.js'
import type { TriggerKinds } from '../engine/trigger-kind.js'
import { Observer, type WorldObserver } from './observer.js'
import { jobsOf, type Trigger } from '../kernel/trigger/trigger.js'

/** The parameters of a simulation. */
export interface Simulation {
  readonly seed: number
  readonly startAt: number
  readonly durationMs: number
  readonly triggers: readonly Trigger[]
  /** The kinds of these triggers; default: the timed ones. */
  readonly kinds?: TriggerKinds | undefined
  /** Further observers. */
  readonly observers?: readonly WorldObserver[] | undefined
  /** The jobs of its triggers that are assets; all others are plain jobs. */
  readonly assets?: readonly AssetJob[] | undefined
  /** Further jobs that the processes can perform, and jobs of triggers that are not random. */
  readonly jobs?: readonly Job[] | undefined
  /** The queues that have a limit. */
  readonly queues?: readonly Queue[] | undefined
  /** The loops that features run alongside the scheduler of each process. */
  readonly loops?: readonly FeatureLoop[] | undefined
  /** Called by each process when it starts, after its definitions are written. */
  readonly prepare?: ((store: Store, now: number) => Promise<void>) | undefined
  /** Opens the store again, as a new process does. */
  readonly open: () => Promise<Store>
  /** The number of concurrent processes. */
  readonly processes: number
  /** The average time before a process dies. */
  readonly crashEveryMs: number
  /** The average time before the wall clock steps; infinite for a steady clock. */
  readonly stepEveryMs: number
  readonly leaseMs: number
  /** The probability that an attempt fails. */
  readonly failure: number
  /** A failing attempt throws one of these; default: an error that is retried. */
  readonly errors?: readonly [() => Error, ...(() => Error)[]] | undefined
}

/** The result of a simulation. */
export interface SimulationReport {
  readonly crashes: number
  readonly steps: number
  readonly attempts: number
  readonly repeated: number
  /** All violated guarantees, one sentence each. */
  readonly broken: readonly string[]
  /** The store at the end, for further checks. */
  readonly store: Store
  readonly endAt: number
}

const hourMs = 3_600_000

/** Runs a simulation and checks the guarantees. */
export async function simulate(options: Simulation): Promise<SimulationReport> {
  const world = new World(options)
  return await world.run()
}

class World {
  readonly #options: Simulation
  readonly #random: SeededRandom
  readonly #clock: FakeClock
  readonly #kinds: TriggerKinds
  readonly #observer: Observer
  readonly #jobs: readonly Job[]
  #living = new Set<SimulatedProcess>()
  #opening = 0
  #crashes = 0
  #steps = 0

  constructor(options: Simulation) {
    this.#options = options
    this.#random = new SeededRandom(options.seed)
    this.#clock = new FakeClock(options.startAt)
    const { triggers, kinds = timedKinds, observers = [] } = options
    this.#kinds = kinds
    this.#observer = new Observer({ triggers, kinds, others: observers })
    const assets = new Map((options.assets ?? []).map((job) => [job.name, job]))
    const names = new Set(['work', ...options.triggers.flatMap(jobsOf)])
    const retry = { ...jobDefaults.retry, attempts: 3 }
    const drawn = [...names].map((name) => ({
      ...(assets.get(name) ?? { ...jobDefaults, name }),
      retry,
      maxCrashes: 1_000_000,
    }))
    const own = new Set((options.jobs ?? []).map(({ name }) => name))
    this.#jobs = [...drawn.filter(({ name }) => !own.has(name)), ...(options.jobs ?? [])]
  }

  async run(): Promise<SimulationReport> {
    const { durationMs, processes, open } = this.#options
    for (let i = 0; i < processes; i++) await this.#begin()
    const endMs = this.#clock.monotonicMs() + durationMs
    while (this.#clock.monotonicMs() < endMs) {
      const pieceMs = Math.min(endMs - this.#clock.monotonicMs(), this.#pieceMs())
      await this.#pass(pieceMs)
      await this.#injectFault()
    }
    // One more day without faults, so that unfinished runs can end.
    await this.#pass(24 * hourMs)
    const endAt = this.#clock.now()
    for (const process of this.#living) process.kill()
    const store = await open()
    const broken = await this.#observer.verdict(store, endAt)
    const { attempts, repeated } = this.#observer
    return { crashes: this.#crashes, steps: this.#steps, attempts, repeated, broken, store, endAt }
  }

  #pieceMs(): number {
    const { crashEveryMs, stepEveryMs } = this.#options
    return Math.ceil(Math.min(crashEveryMs, stepEveryMs) * this.#random.next()) + 1
  }

  /** Injects a fault: a process will die at one of its next calls, or the wall clock steps. */
  async #injectFault(): Promise<void> {
    const { crashEveryMs, stepEveryMs } = this.#options
    const isStep = this.#random.chance(crashEveryMs / (crashEveryMs + stepEveryMs))
    if (isStep) {
      this.#steps += 1
      const byMs = this.#random.pick([-30 * 60_000, -2000, 3000, 20 * 60_000, 3 * hourMs])
      this.#clock.step(byMs)
      if (byMs > this.#options.leaseMs) this.#observer.leasesEnded()
      return
    }
    const [process] = this.#living
    process?.crashable.crashAt(this.#random.int(1, 40), this.#random.chance(0.5) ? 'before' : 'after')
  }

  async #pass(ms: number): Promise<void> {
    // Opening a store takes no simulated time, however long its server takes.
    const opening = (): number => this.#opening
    await this.#clock.advance(ms, () => storesSettled(() => this.#crashables(), opening))
  }

  #crashables(): CrashableStore[] {
    return [...this.#living].map(({ crashable }) => crashable)
  }

  async #begin(): Promise<void> {
    const { leaseMs, triggers, loops, prepare } = this.#options
    const process = new SimulatedProcess({
      real: await this.#open(),
      kinds: this.#kinds,
      clock: this.#clock.fork(),
      leaseMs,
      loops,
      prepare,
      jobs: this.#jobs,
      source: { name: 'code:simulation', jobs: this.#jobs, queues: this.#options.queues ?? [], triggers },
      concurrency: 20,
      retentionMs: 100_000 * hourMs,
      perform: (run, clock) => this.#perform(process, run, clock),
      onCrash: () => this.#die(process),
      newWorkerId: () => `worker-${this.#observer.nextWorker()}`,
    })
    this.#living.add(process)
    // Not awaited: a process that dies while it starts never resolves.
    void process.start()
  }

  async #open(): Promise<Store> {
    this.#opening += 1
    try {
      return await this.#options.open()
    } finally {
      this.#opening -= 1
    }
  }

  #die(process: SimulatedProcess): void {
    if (!this.#living.delete(process)) return
    process.kill()
    this.#crashes += 1
    this.#observer.died(process)
    const pauseMs = this.#random.pick([1000, 45_000, 10 * 60_000, 5 * hourMs])
    this.#clock.timer(pauseMs, () => void this.#begin())
  }

  async #perform(process: SimulatedProcess, run: RunContext, clock: FakeClock): Promise<void> {
    // Work that a dead process still had in the event loop must not happen.
    if (!this.#living.has(process)) return new Promise(() => undefined)
    const performing = this.#observer.began(process, run)
    await clock.sleep(this.#random.pick([0, 5, 800, 20_000, 4 * 60_000]), run.signal)
    const fails = this.#random.chance(this.#options.failure)
    this.#observer.ended(performing, !fails && !run.signal.aborted)
    if (!fails) return
    const { errors } = this.#options
    throw errors === undefined ? new Error('simulated failure') : this.#random.pick(errors)()
  }
}
