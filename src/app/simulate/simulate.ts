/**
 * Simulates the future: the real engine on a virtual clock and a memory store. Handlers are replaced by waits with the
 * durations of earlier runs. Nothing outside is changed, and the same seed gives the same result.
 */
import { Events } from '../../engine/events.js'
import { kindOf, type TriggerKinds } from '../../engine/trigger-kind.js'
import type { RunContext } from '../../engine/worker/perform.js'
import type { LedgerRange } from '../../kernel/ledger/ledger.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'
import { forgetHistory } from '../../store/memory/runs/forget-history.js'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { SeededRandom } from '../../testing/random.js'
import { SimulatedProcess } from '../../testing/simulated-process.js'
import type { Instant } from '../../time/instant.js'
import { nextTurn } from '../../time/turn.js'
import type { TriggerHistory } from './history.js'
import { Tally, type Lateness, type Peak, type SimulatedSpan, type SimulatedTrigger } from './tally.js'
import type { LeftOut, virtualTables } from './virtual-store.js'

/** The parameters of a simulation. */
export interface SimulationPlan {
  readonly fromAt: Instant
  readonly durationMs: number
  /** Determines the durations, the failures and the crashes. */
  readonly seed: number
  /** How many processes work at the same time, and how many runs each performs concurrently. */
  readonly processes: number
  readonly concurrency: number
  /** The mean time between two crashes; absent: no process crashes. */
  readonly crashEveryMs?: number | undefined
  /** How long a run takes if its trigger has no history. */
  readonly unknownMs: number
  readonly onProgress?: ((share: number) => void) | undefined
}

/** What happened in a simulation. */
export interface SimulationResult {
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly seed: number
  readonly processes: number
  readonly concurrency: number
  readonly runs: number
  readonly failed: number
  readonly crashes: number
  readonly late: Lateness
  /** The most runs that were performed concurrently, and that waited at the same time. */
  readonly maxRunning: Peak
  readonly maxWaiting: Peak
  readonly busiestMinute: Peak
  /** The share of all slots that was used. */
  readonly used: number
  readonly triggers: readonly SimulatedTrigger[]
  /** How long each span is: an hour, or a day if the simulation is longer than two weeks. */
  readonly spanMs: number
  readonly spans: readonly SimulatedSpan[]
  readonly leftOut: readonly LeftOut[]
}

/** What a simulation starts with. */
export interface VirtualWorld extends Awaited<ReturnType<typeof virtualTables>> {
  readonly kinds: TriggerKinds
  readonly history: ReadonlyMap<string, TriggerHistory>
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A crashed process restarts after this time. */
const downMs = 60_000

/** Runs and ranges are removed soon, so that a year fits into memory. */
const historyMs = hourMs

/** The lease decides when the runs of a crashed process are taken over; without crashes, renewals only cost time. */
const crashedLeaseMs = 30_000
const calmLeaseMs = dayMs

/** Runs a simulation. */
export async function runSimulation(world: VirtualWorld, plan: SimulationPlan): Promise<SimulationResult> {
  const simulation = new Simulation(world, plan)
  return await simulation.run()
}

class Simulation {
  readonly #world: VirtualWorld
  readonly #plan: SimulationPlan
  readonly #random: SeededRandom
  readonly #clock: FakeClock
  readonly #tally: Tally
  /** The live processes, each with the starts of its attempts. */
  readonly #living = new Map<SimulatedProcess, Map<RunContext, Instant>>()
  #triggers: ReadonlyMap<string, Trigger> = new Map()
  #workers = 0
  #crashes = 0

  constructor(world: VirtualWorld, plan: SimulationPlan) {
    this.#world = world
    this.#plan = plan
    this.#random = new SeededRandom(plan.seed)
    this.#clock = new FakeClock(plan.fromAt)
    this.#tally = new Tally(spanMsOf(plan))
  }

  async run(): Promise<SimulationResult> {
    const { processes, durationMs, onProgress } = this.#plan
    const active = await openMemoryStore(this.#world.tables).triggers({ active: true })
    this.#triggers = new Map(active.map(({ trigger }) => [trigger.name, trigger]))
    for (let i = 0; i < processes; i++) await this.#begin()
    for (let passedMs = 0; passedMs < durationMs; ) {
      const pieceMs = Math.min(durationMs - passedMs, this.#pieceMs())
      await this.#clock.advance(pieceMs, () => this.#clock.quiet())
      passedMs += pieceMs
      forgetHistory(this.#world.tables, this.#clock.now() - historyMs)
      if (passedMs < durationMs) this.#maybeCrash(pieceMs)
      onProgress?.(passedMs / durationMs)
      // Lets signals and the progress bar continue.
      await nextTurn()
    }
    for (const process of this.#living.keys()) process.kill()
    return this.#result()
  }

  #pieceMs(): number {
    const { durationMs, crashEveryMs = Infinity } = this.#plan
    return Math.max(1, Math.ceil(Math.min(6 * hourMs, durationMs / 100, crashEveryMs / 4)))
  }

  #maybeCrash(pieceMs: number): void {
    const { crashEveryMs = Infinity } = this.#plan
    if (!this.#random.chance(1 - Math.exp(-pieceMs / crashEveryMs))) return
    const [first] = this.#living
    if (first === undefined) return
    const [process, attempts] = first
    this.#living.delete(process)
    for (const startedAt of attempts.values()) this.#tally.ended(this.#clock.now() - startedAt)
    process.kill()
    this.#crashes += 1
    this.#clock.timer(downMs, () => void this.#begin())
  }

  async #begin(): Promise<void> {
    const { tables, kinds } = this.#world
    const events = new Events()
    events.on('tick', (tick) => {
      if (this.#triggers.has(tick.trigger))
        this.#tally.planned(tick, this.#clock.now(), (range) => this.#countOf(range))
    })
    events.on('run:ended', ({ trigger, state }) => {
      if (state === 'failed' && trigger !== undefined) this.#tally.failed(trigger, this.#clock.now())
    })
    const store = openMemoryStore(tables, { hintsItself: false })
    const process = new SimulatedProcess({
      real: store,
      kinds,
      clock: this.#clock.fork(),
      leaseMs: this.#plan.crashEveryMs === undefined ? calmLeaseMs : crashedLeaseMs,
      jobs: (await store.jobs()).map(({ job }) => job),
      concurrency: this.#plan.concurrency,
      retentionMs: Infinity,
      countsHours: false,
      events,
      perform: (run, clock) => this.#perform(process, run, clock),
      onCrash: () => undefined,
      newWorkerId: () => `worker-${++this.#workers}`,
    })
    this.#living.set(process, new Map())
    await process.start()
  }

  async #perform(process: SimulatedProcess, run: RunContext, clock: FakeClock): Promise<void> {
    const trigger = run.trigger ?? run.job
    const startedAt = clock.now()
    this.#living.get(process)?.set(run, startedAt)
    this.#tally.began({ trigger, attempt: run.attempt, dueAt: run.dueAt.getTime() }, startedAt)
    const history = this.#world.history.get(trigger)
    const { unknownMs } = this.#plan
    const tookMs = history === undefined ? unknownMs : this.#one(history.tookMs, unknownMs)
    const fails = this.#random.chance(history?.failed ?? 0)
    if (this.#mayBeStopped(run, tookMs)) await clock.sleep(tookMs, run.signal)
    else if (tookMs > 0) await new Promise<void>((resolve) => clock.timer(tookMs, resolve))
    if (this.#living.get(process)?.delete(run) !== true) return new Promise(() => undefined)
    this.#tally.ended(clock.now() - startedAt)
    if (fails) throw new Error('failed as often as its runs did')
  }

  /** Only such a run listens to its signal, because signals are most of the cost of a short run. */
  #mayBeStopped({ trigger, job }: RunContext, tookMs: number): boolean {
    const overlap = this.#triggers.get(trigger ?? '')?.overlap
    if (overlap === 'cancel-running' || overlap === 'terminate-running') return true
    return tookMs > (this.#world.tables.jobs.get(job)?.job.timeoutMs ?? Infinity)
  }

  #one(values: readonly number[], none: number): number {
    return values[Math.floor(this.#random.next() * values.length)] ?? none
  }

  /** How many due instants a range has. */
  #countOf({ trigger: name, firstAt, lastAt }: LedgerRange): number {
    const trigger = this.#triggers.get(name)
    const schedule = trigger === undefined ? undefined : kindOf(this.#world.kinds, trigger).instants(trigger)
    if (firstAt === lastAt || schedule === undefined) return 1
    let count = 0
    for (let at = schedule.next(firstAt - 1); at !== undefined && at <= lastAt; at = schedule.next(at))
      count += 1
    return count
  }

  #result(): SimulationResult {
    const { fromAt, durationMs, seed, processes, concurrency } = this.#plan
    const { maxRunning, maxWaiting, busiestMinute, busyMs, spans } = this.#tally
    const { history, tables } = this.#world
    const triggers = this.#tally.triggers((trigger) => ({
      knownRuns: history.get(trigger)?.tookMs.length ?? 0,
      pausedAt: tables.holds.get(`trigger:${trigger}`)?.at(-1)?.fromAt,
    }))
    const sum = (of: (one: SimulatedTrigger) => number): number =>
      triggers.reduce((all, one) => all + of(one), 0)
    return {
      fromAt,
      untilAt: fromAt + durationMs,
      seed,
      processes,
      concurrency,
      runs: sum(({ runs }) => runs),
      failed: sum(({ failed }) => failed),
      crashes: this.#crashes,
      late: this.#tally.late(),
      maxRunning,
      maxWaiting,
      busiestMinute,
      used: busyMs / (durationMs * processes * concurrency),
      triggers,
      spanMs: spanMsOf(this.#plan),
      spans,
      leftOut: this.#world.leftOut,
    }
  }
}

function spanMsOf({ durationMs }: SimulationPlan): number {
  return durationMs > 14 * dayMs ? dayMs : hourMs
}
