/**
 * The metrics for Prometheus: the work of this process, counted from its events, and the state of the store, read at
 * each request. Labels are few: job names are labels, triggers and runs are not.
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { EngineEvents, EventName, RunNotice } from '../../engine/events.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { FeatureGauge } from '../../wire/feature-gauge.js'

/** The parts of an app that metrics need. */
export interface MeasuredApp {
  on<Name extends EventName>(name: Name, listener: (event: EngineEvents[Name]) => void): () => void
  now(): Instant
  store(): Promise<Store>
  readonly pool: { metrics(): string }
}

/** The parts of a store that metrics need. */
export interface MeasuredStore {
  store(): Promise<Store>
  now(): Instant
}

/** Further jobs share one label: a program with an endless number of jobs must not fill the memory. */
const mostJobs = 500

/** A run that waits longer than this is late; late runs are counted up to a limit. */
const lateMs = 60_000
const mostLate = 100

/** A first attempt that starts within this time is on time, whatever created its run. */
const onTimeMs = 1000

const secondsOfWork = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600]
const secondsOfLateness = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** The metrics of a store. */
export class StoreMetrics {
  readonly #app: MeasuredStore
  readonly #registry = new Registry()
  readonly #gauges = storeGauges([this.#registry])
  readonly #storeRead = new Histogram({
    name: 'rota_store_read_seconds',
    help: 'How long the store took to answer the queries of one scrape.',
    buckets: secondsOfLateness,
    registers: [this.#registry],
  })

  constructor(app: MeasuredStore) {
    this.#app = app
  }

  /** The metrics as text for Prometheus. */
  async text(): Promise<string> {
    const stop = this.#storeRead.startTimer()
    const store = await this.#app.store()
    const now = this.#app.now()
    const [queues, counts, workers, overdue] = await Promise.all([
      store.queues(),
      store.counts(),
      store.workers(),
      store.late({ now, byMs: lateMs, limit: mostLate }),
    ])
    stop()
    const { runs, ready, oldest, running, delayed, blocked, late, live } = this.#gauges
    for (const [state, count] of Object.entries(counts)) runs.set({ state }, count)
    for (const { name: queue, oldestReadyAt = now, ...found } of queues) {
      ready.set({ queue }, found.ready)
      oldest.set({ queue }, Math.max(0, now - oldestReadyAt) / 1000)
      running.set({ queue }, found.running)
      delayed.set({ queue }, found.delayed)
      blocked.set({ queue }, found.blocked)
    }
    late.set(overdue.length)
    live.set(workers.filter(({ leaseUntil }) => leaseUntil >= now).length)
    return await this.#registry.metrics()
  }
}

/** Counts the events of an app from now on. */
export class ProcessMetrics {
  readonly #app: MeasuredApp
  readonly #registry = new Registry()
  readonly #jobs = new Set<string>()
  readonly #stops: (() => void)[]
  /** Late starts that are being checked. */
  readonly #looks = new Set<Promise<void>>()

  constructor(app: MeasuredApp, gauges: readonly FeatureGauge[] = []) {
    this.#app = app
    collectDefaultMetrics({ register: this.#registry })
    const registers = [this.#registry]
    this.#stops = [...this.#listen(registers), ...gauges.map((one) => this.#follow(one, registers))]
  }

  /** The metrics as text for Prometheus. */
  async text(): Promise<string> {
    await Promise.all(this.#looks)
    return `${await this.#registry.metrics()}${this.#app.pool.metrics()}`
  }

  /** Stops counting. */
  close(): void {
    for (const stop of this.#stops) stop()
    this.#registry.clear()
  }

  #listen(registers: Registry[]): (() => void)[] {
    const recorded = new Counter({
      name: 'rota_runs_recorded_total',
      help: 'Runs that the ticks of this process recorded.',
      registers,
    })
    const ranges = new Counter({
      name: 'rota_ranges_recorded_total',
      help: 'Ranges of due instants that did not become runs, by reason.',
      labelNames: ['reason'],
      registers,
    })
    const started = new Counter({
      name: 'rota_attempts_started_total',
      help: 'Attempts that this process started.',
      labelNames: ['job'],
      registers,
    })
    const ended = new Counter({
      name: 'rota_attempts_ended_total',
      help: 'Attempts of this process that ended, by how.',
      labelNames: ['job', 'end'],
      registers,
    })
    const failed = new Counter({
      name: 'rota_runs_failed_total',
      help: 'Runs that finally failed in this process.',
      labelNames: ['job'],
      registers,
    })
    const duration = new Histogram({
      name: 'rota_attempt_duration_seconds',
      help: 'How long attempts took.',
      labelNames: ['job'],
      buckets: secondsOfWork,
      registers,
    })
    const lateness = new Histogram({
      name: 'rota_start_lateness_seconds',
      help: 'How long after its due instant a first attempt started.',
      buckets: secondsOfLateness,
      registers,
    })
    const lost = new Counter({
      name: 'rota_attempts_lost_total',
      help: 'Attempts whose worker disappeared, as this process found.',
      registers,
    })
    const breaches = new Counter({
      name: 'rota_sla_breaches_total',
      help: 'Breaches of SLAs of triggers, rounds, jobs and assets, as this process found.',
      labelNames: ['rule', 'of'],
      registers,
    })
    const { on } = { on: this.#app.on.bind(this.#app) }
    return [
      on('tick', ({ runs, ranges: found }) => {
        recorded.inc(runs.length)
        for (const { reason } of found) ranges.inc({ reason })
      }),
      on('run:started', (notice) => {
        started.inc({ job: this.#label(notice.job) })
        if (notice.attempt === 1) this.#measureLateness(lateness, notice)
      }),
      on('run:ended', ({ job, end, state, durationMs }) => {
        const label = this.#label(job)
        ended.inc({ job: label, end })
        duration.observe({ job: label }, durationMs / 1000)
        if (state === 'failed') failed.inc({ job: label })
      }),
      on('run:lost', () => lost.inc()),
      on('sla:breached', ({ rule, of }) => breaches.inc({ rule, of })),
    ]
  }

  /** Runs of backfills are not late. A claim does not contain the origin of its run, so late ones are read again. */
  #measureLateness(lateness: Histogram, { run, trigger, dueAt }: RunNotice): void {
    const lateMs = Math.max(0, this.#app.now() - dueAt)
    if (trigger === undefined || lateMs <= onTimeMs) return lateness.observe(lateMs / 1000)
    const look = this.#isOfBackfill(run)
      .then((isAgain) => (isAgain ? undefined : lateness.observe(lateMs / 1000)))
      // An unreachable store is reported elsewhere.
      .catch(() => undefined)
      .finally(() => this.#looks.delete(look))
    this.#looks.add(look)
  }

  async #isOfBackfill(run: string): Promise<boolean> {
    const store = await this.#app.store()
    return (await store.run(run))?.origin === 'backfill'
  }

  /** A gauge of a feature follows an event of the feature. */
  #follow({ name, help, label, event, read }: FeatureGauge, registers: Registry[]): () => void {
    const gauge = new Gauge({ name, help, labelNames: [label], registers })
    return this.#app.on(event as EventName, (notice) => {
      const { of, value } = read(notice as never)
      gauge.set({ [label]: of }, value)
    })
  }

  #label(job: string): string {
    if (this.#jobs.has(job)) return job
    if (this.#jobs.size >= mostJobs) return 'other'
    this.#jobs.add(job)
    return job
  }
}

/** The gauges that are read from the store. */
function storeGauges(registers: Registry[]) {
  const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  return {
    runs: gauge('rota_runs', 'Runs by state; those that are done are counted up to 100,000.', ['state']),
    ready: gauge('rota_queue_ready', 'Runs that could be claimed now.', ['queue']),
    oldest: gauge('rota_queue_oldest_ready_seconds', 'For how long the oldest of them could.', ['queue']),
    delayed: gauge('rota_queue_delayed', 'Runs that wait for their instant, up to 2,000 in all.', ['queue']),
    blocked: gauge('rota_queue_blocked', 'Runs that wait for a concurrency slot, up to 2,000 in all.', [
      'queue',
    ]),
    late: gauge(
      'rota_runs_late',
      'Pending runs that should have started a minute ago or earlier, up to 100.',
    ),
    running: gauge('rota_queue_running', 'Runs that are being performed.', ['queue']),
    live: gauge('rota_workers_live', 'Processes whose lease is current.'),
  }
}
