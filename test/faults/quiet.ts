import { setTimeout as wait } from 'node:timers/promises'
import { rota } from '../../src/index.js'

/** Resolves when everything that was enqueued, or was due more than a moment ago, is done. */
export async function untilQuiet(store: string): Promise<void> {
  const app = rota({ store })
  for (;;) {
    const states = ['pending', 'running'] as const
    const unfinished = await Promise.all(states.map((state) => app.runs.list({ state, limit: 1000 })))
    const isCurrent = unfinished
      .flat()
      .every(({ origin, runAt }) => origin === 'trigger' && runAt.getTime() > Date.now() - 3000)
    if (isCurrent) break
    await wait(100)
  }
  await app.close()
}
