import type { Events } from '../../engine/events.js'
import { Loop, type Look } from '../../engine/loop.js'
import { describeReload } from './reload-text.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { faultsIn } from '../definitions/check-definitions.js'
import type { ReloadReport } from './reload.js'
import { answerRequests, requestsTo, type ReloadAnswer, type ReloadRequest } from './requests.js'

/** The options of a reload loop. */
export interface ReloadLoopOptions {
  readonly store: Store
  readonly clock: Clock
  readonly now: () => Instant
  readonly events: Events
  readonly source: string
  /** The name of the record of this process. */
  readonly process: string
  readonly reload: (options: { readonly dryRun: boolean }) => Promise<ReloadReport>
}

/** However often the store hints, requests are read at most this often. */
const leastRestMs = 500

/** The slow poll behind all hints. */
const slowMs = 10_000

/** How long an ending process waits for a running reload. */
const mostStopMs = 5000

/** An answer that was not fetched is removed after this time. */
const answerKeptMs = 600_000

/** Handles the reload requests to this process, one after the other. */
export class ReloadLoop {
  readonly #options: ReloadLoopOptions
  readonly #loop: Loop
  #unwatch: () => void = () => undefined
  #restUntilMs = -Infinity

  constructor(options: ReloadLoopOptions) {
    this.#options = options
    const step = (): Promise<Look> => this.#look()
    this.#loop = new Loop({ name: 'reload', seed: options.process, ...options, pollMs: slowMs, step })
  }

  start(): void {
    this.#unwatch = this.#options.store.watch((news = 'anything') => news === 'anything' && this.#loop.wake())
    this.#loop.start()
  }

  /** Looks soon: a request of this process itself causes no hint. */
  wake(): void {
    this.#restUntilMs = -Infinity
    this.#loop.wake()
  }

  /** Resolves when the running reload has ended, or after a time limit. */
  async stop(): Promise<void> {
    this.#unwatch()
    const ended = new AbortController()
    const stopped = this.#loop.stop().finally(() => ended.abort())
    await Promise.race([stopped, this.#options.clock.sleep(mostStopMs, ended.signal)])
  }

  async #look(): Promise<Look> {
    const { store, clock, now, process } = this.#options
    const restMs = this.#restUntilMs - clock.monotonicMs()
    if (restMs > 0) return { afterMs: restMs }
    const { open, answered } = await requestsTo(store, process)
    const stale = answered.filter(({ at }) => at < now() - answerKeptMs)
    // Requests that arrive together cause one reload.
    for (const dryRun of [true, false]) {
      const requests = open.filter((one) => one.dryRun === dryRun)
      if (requests.length > 0) await this.#answer(requests, { dryRun, stale })
    }
    this.#restUntilMs = clock.monotonicMs() + leastRestMs
    return { afterMs: slowMs }
  }

  async #answer(
    requests: readonly ReloadRequest[],
    { dryRun, stale }: { dryRun: boolean; stale: Parameters<typeof answerRequests>[1]['stale'] },
  ): Promise<void> {
    const { store, now, events, source } = this.#options
    const answer = await this.#tried(dryRun)
    await answerRequests(store, { requests, answer, stale, now: now() })
    if (!dryRun) events.emit('operation', describeReload(source, answer))
  }

  async #tried(dryRun: boolean): Promise<ReloadAnswer> {
    try {
      const report = await this.#options.reload({ dryRun })
      return { outcome: dryRun ? 'planned' : 'reloaded', ...report }
    } catch (error) {
      // An error that is not a fault of the config, such as an unreachable store, is tried again by the loop.
      if (!(error instanceof RotaError) || error.code.startsWith('STORE_')) throw error
      const { code, message } = error
      const faults = error.faults.length === 0 ? [] : faultsIn(error).slice(0, mostFaults)
      return { outcome: 'refused', code, message, faults }
    }
  }
}

/** The answer has at most this many faults; `rota check` lists all. */
const mostFaults = 100
