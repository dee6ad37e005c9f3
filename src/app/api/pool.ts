import { Pool, type PoolCounters } from '../../engine/worker/pool.js'
import { poolMetrics } from '../../engine/worker/pool-metrics.js'
import type { ResultsOptions, TaskResult } from '../../engine/worker/results.js'
import type { AppContext } from '../../features/app-context.js'

/** The attempts of this process. */
export interface AppPool {
  /** The end of every attempt from now on; results that are not read in time are dropped and counted. */
  results(options?: ResultsOptions): AsyncIterableIterator<TaskResult>
  /** The number of attempts since the app was created, by outcome. */
  counters(): PoolCounters
  /** The same counters as text for Prometheus. */
  metrics(): string
}

/** The pool of an app, which closes with it. */
export function appPool(context: Pick<AppContext, 'events' | 'join'>): AppPool {
  const pool = new Pool(context.events)
  context.join({ close: async () => pool.close() })
  return {
    results: (options) => pool.results(options),
    counters: () => pool.counters(),
    metrics: () => poolMetrics(pool.counters()),
  }
}
