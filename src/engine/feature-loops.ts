import type { FeatureLoop, RunningLoop } from './feature-loop.js'
import type { Loop } from './loop.js'

/** A loop of a feature that has begun. */
export interface BegunLoop {
  readonly loop: Loop
  readonly running: RunningLoop
}

/** The loops that features run alongside the scheduler. */
export class FeatureLoops {
  readonly #begin: (loop: FeatureLoop) => BegunLoop
  readonly #begun = new Map<string, BegunLoop & { readonly isOfDefinitions: boolean }>()
  #hasEnded = false

  constructor(begin: (loop: FeatureLoop) => BegunLoop) {
    this.#begin = begin
  }

  /** Starts the loops that do not run yet. Those that depend on definitions are stopped and started again. */
  async replace(loops: readonly FeatureLoop[]): Promise<void> {
    for (const [name, begun] of this.#begun) {
      if (!begun.isOfDefinitions) continue
      this.#begun.delete(name)
      await stopped(begun)
    }
    for (const one of loops) {
      if (this.#hasEnded || this.#begun.has(one.name)) continue
      const begun = this.#begin(one)
      this.#begun.set(one.name, { ...begun, isOfDefinitions: one.isOfDefinitions === true })
      begun.loop.start()
    }
  }

  wake(): void {
    for (const { loop } of this.#begun.values()) loop.wake()
  }

  /** Stops all of them; none starts afterwards. */
  async stop(): Promise<void> {
    this.#hasEnded = true
    await Promise.all([...this.#begun.values()].map(stopped))
  }

  /** Takes no more looks, and does not wait for work in progress. */
  abandon(): void {
    this.#hasEnded = true
    for (const { loop } of this.#begun.values()) void loop.stop()
  }
}

async function stopped({ loop, running }: BegunLoop): Promise<void> {
  await loop.stop()
  await running.stop()
}
