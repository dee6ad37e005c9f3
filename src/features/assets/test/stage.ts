import { onTestFinished } from 'vitest'
import { rota } from '../../../app/rota.js'
import type { Rota } from '../../../app/rota.js'
import type { RotaOptions } from '../../../app/rota-options.js'
import { FakeClock } from '../../../testing/fake-clock.js'
import { settle } from '../../../../test/fixtures/engine-stage.js'

/** An app on a memory store under a clock that passes when it is told to. */
export interface AssetStage {
  readonly app: Rota
  readonly clock: FakeClock
  /** Lets so much time pass. */
  readonly pass: (ms: number) => Promise<void>
  /** Lets time pass up to an instant: most of it at once, as while a laptop sleeps, and the last seconds timer by timer. */
  readonly passTo: (text: string) => Promise<void>
  /** The partitions that were made, oldest run first; empty for data in one piece. */
  readonly made: (asset: string) => Promise<string[]>
}

const lastMs = 70_000

/** A stage that begins at an instant. */
export function stageAt(text: string, options: RotaOptions = {}): AssetStage {
  // Up for years, so that no step of the wall clock is doubted.
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
