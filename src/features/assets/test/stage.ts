import { onTestFinished } from 'vitest'
import { rota } from '../../../app/rota.js'
import type { Rota } from '../../../app/rota.js'
import type { RotaOptions } from '../../../app/rota-options.js'
import { FakeClock } from '../../../testing/fake-clock.js'
import { settle } from '../../../../test/fixtures/engine-stage.js'

/** An app on a memory store, with a clock that only the test moves. */
export interface AssetStage {
  readonly app: Rota
  readonly clock: FakeClock
  /** Advances the clock by this much. */
  readonly pass: (ms: number) => Promise<void>
  /** Advances the clock to an instant: most of it in one step, as when a laptop sleeps, and the last seconds timer by timer. */
  readonly passTo: (text: string) => Promise<void>
  /** The partitions that were produced, oldest run first; empty for an asset without partitions. */
  readonly made: (asset: string) => Promise<string[]>
}

const lastMs = 70_000

/** A stage that begins at an instant. */
export function stageAt(text: string, options: RotaOptions = {}): AssetStage {
  // An uptime of years, so that no step of the wall clock needs a confirmation.
  const clock = new FakeClock(Date.parse(text), { upMs: 5 * 366 * 86_400_000 })
  const app = rota({ store: 'memory:', clock, ...options })
  onTestFinished(async () => {
    const closing = app.close()
    await clock.advance(20_000, settle)
    await closing
  })
  const pass = (ms: number): Promise<void> => clock.advance(ms, settle)
  return {
    app,
    clock,
    pass,
    passTo: async (at) => {
      const leftMs = Date.parse(at) - clock.now()
      if (leftMs > lastMs) clock.step(leftMs - lastMs)
      await pass(Math.min(leftMs, lastMs))
    },
    made: async (asset) => {
      const runs = await app.runs.list({ job: asset, state: 'done', limit: 10_000 })
      return runs.toReversed().map(({ partition }) => partition ?? '')
    },
  }
}
