import type { FeatureLoop, FeatureLoopContext, RunningLoop } from '../../engine/feature-loop.js'
import type { Look } from '../../engine/loop.js'
import { HOUR_MS } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'
import { performBatch } from './perform.js'
import { listBulks, removeOldBulks } from './store-bulks.js'

/** How long a process waits if another one performed the same batch. */
const otherAtItMs = 100

/** How often old bulks are searched for. */
const cleanUpMs = HOUR_MS

/** Performs bulks, one batch per step, in every process with the scheduler role. */
export const bulkLoop: FeatureLoop = {
  name: 'bulk',
  begin: (context) => new BulkLoop(context),
}

class BulkLoop implements RunningLoop {
  readonly #context: FeatureLoopContext
  #cleanUpAt: Instant = 0

  constructor(context: FeatureLoopContext) {
    this.#context = context
  }

  async step(): Promise<Look> {
    const { store, clock, onRuns } = this.#context
    const now = clock.now()
    const running = (await listBulks(store)).filter(({ bulk }) => bulk.state === 'running')
    // The oldest first: a later one may depend on it.
    const next = running.at(-1)
    if (next === undefined) return await this.#cleanUp(now)
    const answer = await performBatch(store, next, now)
    if (answer === 'stale') return { afterMs: otherAtItMs }
    onRuns()
    return { afterMs: 0 }
  }

  async stop(): Promise<void> {
    // Nothing is in progress between two steps.
  }

  async #cleanUp(now: Instant): Promise<Look> {
    if (now >= this.#cleanUpAt) {
      this.#cleanUpAt = now + cleanUpMs
      await removeOldBulks(this.#context.store, now)
    }
    return { afterMs: cleanUpMs }
  }
}
