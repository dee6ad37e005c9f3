import { setMaxListeners } from 'node:events'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type { Events, OfferedRun } from '../../engine/events.js'
import type { ErrorTracer } from '../../engine/worker/error-tracer.js'
import type { RunContext } from '../../engine/worker/perform.js'
import { performOneRun, type OneRunOptions } from '../../engine/worker/one-run.js'

/** What a taker needs. */
export interface TakerOptions {
  readonly store: Store
  readonly clock: Clock
  readonly now: () => Instant
  readonly events: Events
  readonly tracer: ErrorTracer
  readonly leaseMs: number
  readonly identity: Omit<OneRunOptions['worker'], 'id'>
  /** Returns a worker id that was never used before; each run has a worker of its own. */
  readonly newWorkerId: () => string
  /** Whether it takes the runs of a job. */
  readonly takes: (job: string) => boolean
  readonly concurrency: number
  readonly take: (run: RunContext) => unknown
}

/** How many offers it remembers while it is busy; forgotten ones are offered again. */
const mostOpen = 1000

/**
 * Takes offered runs. An offer only says that a run of a job waits. The taker answers each with the claim of a worker,
 * which gives the most urgent due run of that job, or none if others were faster.
 */
export class Taker {
  readonly #options: TakerOptions
  readonly #open = new Map<string, Pick<OfferedRun, 'run' | 'job'>>()
  readonly #taking = new Set<Promise<void>>()
  readonly #handBack = new AbortController()
  #isEnding = false

  constructor(options: TakerOptions) {
    this.#options = options
    // Each of its runs listens to it.
    setMaxListeners(0, this.#handBack.signal)
  }

  offer(offered: Pick<OfferedRun, 'run' | 'job'>): void {
    if (this.#isEnding || !this.#options.takes(offered.job)) return
    if (this.#open.size < mostOpen) this.#open.set(offered.run, offered)
    this.#go()
  }

  /** Takes nothing more. Current runs may finish within the grace period; then they are stopped and released. */
  async stop(graceOver: AbortSignal): Promise<void> {
    this.#isEnding = true
    this.#open.clear()
    const handBack = (): void => this.#handBack.abort()
    graceOver.addEventListener('abort', handBack, { once: true })
    if (graceOver.aborted) handBack()
    await Promise.all(this.#taking)
    graceOver.removeEventListener('abort', handBack)
  }

  #go(): void {
    for (const offered of this.#open.values()) {
      if (this.#taking.size >= this.#options.concurrency) return
      this.#open.delete(offered.run)
      const taking = this.#take(offered.job).finally(() => {
        this.#taking.delete(taking)
        this.#go()
      })
      this.#taking.add(taking)
    }
  }

  async #take(name: string): Promise<void> {
    const { store, clock, now, events, tracer, leaseMs, identity, newWorkerId, take } = this.#options
    try {
      const job = (await store.jobs()).find((one) => one.job.name === name)?.job
      if (job === undefined) return
      const worked = await performOneRun({
        store,
        clock,
        now,
        events,
        tracer,
        leaseMs,
        worker: { ...identity, id: newWorkerId() },
        executableJobs: new Map([[name, { job, handler: take }]]),
        signal: this.#handBack.signal,
      })
      if (worked === undefined) this.#forget(name)
    } catch (error) {
      events.emit('trouble', { where: 'bus', error, retryInMs: 0 })
    }
  }

  /** Forgets the offers of a job, because others were faster. */
  #forget(job: string): void {
    for (const offered of this.#open.values()) if (offered.job === job) this.#open.delete(offered.run)
  }
}
